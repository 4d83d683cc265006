// What goes on: how much is done, what fails, what it costs, and what waits for whom.
import { Link } from 'react-router'
import { getOverview, type Overview } from '../../../../src/contract/api/service/overview.ts'
import { useSum } from '../../data/sums.ts'
import { Chart } from '../../parts/chart.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope, useScopedPath } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { describeCosts, hourOf, sumHours } from './overview-words.ts'
import { RunningTasks } from './running-tasks.tsx'
import { WaitingApprovals } from './waiting-approvals.tsx'
import './overview.css'

const sorts = ['Task', 'Usage', 'Provider', 'Approval', 'MemoryProposal']

export default function OverviewPage() {
  const { query } = useScope()
  const overview = useSum(sorts, getOverview, { query })
  return (
    <Page title="Overview">
      {overview.error !== null && <Failure error={overview.error} retry={() => void overview.refetch()} />}
      {overview.data === undefined && overview.error === null && <Loading what="the overview" />}
      {overview.data !== undefined && <Numbers of={overview.data} />}
    </Page>
  )
}

function Numbers({ of }: { of: Overview }) {
  return (
    <>
      <Figures of={of} />
      {of.approvals > 0 && <WaitingApprovals />}
      <div className="overview">
        <Throughput of={of} />
        <RunningTasks />
        <Failures of={of} />
        <Providers of={of} />
      </div>
    </>
  )
}

function Figures({ of }: { of: Overview }) {
  const scoped = useScopedPath()
  const ended = sumHours(of)
  const { approvals, proposals = 0 } = of
  return (
    <ul className="figures">
      <Figure title="Running" value={of.tasks.Running ?? 0} to={scoped('/tasks')} filter="phase=Running" />
      <Figure title="Waiting" value={of.queue.pending} to={scoped('/tasks')} filter="phase=Pending">
        {of.queue.oldest !== undefined && (
          <>
            the oldest came <Ago at={of.queue.oldest} />
          </>
        )}
      </Figure>
      <Figure title="Done in 24 hours" value={ended.succeeded} to={scoped('/tasks')} filter="phase=Succeeded" />
      <Figure title="Failed in 24 hours" value={ended.failed} to={scoped('/tasks')} filter="phase=Failed" />
      {of.usage !== undefined && (
        <Figure title="Cost today" value={describeCosts(of.usage.today.costs)} to={scoped('/usage')}>
          {formatCount(of.usage.today.llmCalls)} model calls
        </Figure>
      )}
      <Figure title="Waits for a person" value={approvals + proposals} to={scoped(proposals > 0 ? '/proposals' : '/')}>
        {approvals} approvals, {proposals} proposals
      </Figure>
    </ul>
  )
}

type FigureProps = { title: string; value: string | number; to: string; filter?: string; children?: React.ReactNode }

function Figure({ title, value, to, filter, children }: FigureProps) {
  const address = filter === undefined ? to : `${to}${to.includes('?') ? '&' : '?'}${filter}`
  return (
    <li className="card figure">
      <Link to={address}>
        <span className="soft">{title}</span>
        <strong className="number">{value}</strong>
      </Link>
      {children !== undefined && <span className="soft figure-more">{children}</span>}
    </li>
  )
}

function Throughput({ of: { hours } }: { of: Overview }) {
  return (
    <section className="card overview-wide" aria-labelledby="throughput">
      <h2 id="throughput">Tasks that ended, by the hour</h2>
      <Chart
        title="Tasks that ended in the last 24 hours"
        starts={hours.map(({ start }) => start)}
        series={[
          { name: 'Succeeded', tone: 'good', values: hours.map(({ succeeded }) => succeeded) },
          { name: 'Failed', tone: 'bad', values: hours.map(({ failed }) => failed) },
          { name: 'Cancelled', tone: 'plain', values: hours.map(({ cancelled }) => cancelled) },
        ]}
        formatStart={hourOf}
      />
    </section>
  )
}

function Failures({ of: { failures } }: { of: Overview }) {
  const scoped = useScopedPath()
  return (
    <section className="card" aria-labelledby="failures">
      <h2 id="failures">Why tasks failed</h2>
      {failures.length === 0 ? (
        <p className="soft">Nothing has failed in 24 hours.</p>
      ) : (
        <ul className="stack">
          {failures.map(({ reason, count }) => (
            <li key={reason} className="row">
              <strong className="number">{count}</strong> <Foreign text={reason} />
            </li>
          ))}
          <li>
            <Link to={`${scoped('/tasks')}${scoped('/tasks').includes('?') ? '&' : '?'}phase=Failed`}>
              All failed tasks
            </Link>
          </li>
        </ul>
      )}
    </section>
  )
}

const states = {
  failing: ['bad', 'failing'],
  notReady: ['bad', 'not ready'],
  coolingDown: ['warn', 'cooling down'],
  unknown: ['plain', 'not asked yet'],
  good: ['good', 'good'],
} as const

function Providers({ of: { providers } }: { of: Overview }) {
  if (providers === undefined) return null
  return (
    <section className="card" aria-labelledby="providers">
      <h2 id="providers">Providers</h2>
      {providers.length === 0 && (
        <Empty title="There is no provider yet">
          <p>
            <code>svc provider create</code> sets one up, so that tasks can ask a model.
          </p>
        </Empty>
      )}
      <ul className="stack">
        {providers.map(({ name, namespace, state, message, lastReached }) => (
          <li key={`${namespace}/${name}`}>
            <span className="row">
              <span className="badge" data-tone={states[state][0]}>
                {states[state][1]}
              </span>
              <Foreign text={name} /> <span className="soft">{namespace}</span>
              {lastReached !== undefined && <Ago at={lastReached} />}
            </span>
            <Foreign className="soft" text={message} most={300} />
          </li>
        ))}
      </ul>
    </section>
  )
}
