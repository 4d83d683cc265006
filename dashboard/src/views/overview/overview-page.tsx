// What goes on: what waits for a person first, then how much is done, what it costs, what fails, and what runs.
import { getUsage } from '../../../../src/contract/api/budgets/usage.ts'
import { getOverview, type Overview } from '../../../../src/contract/api/service/overview.ts'
import { getRuns, type RunSums } from '../../../../src/contract/api/service/runs.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useSum } from '../../data/sums.ts'
import { Chart } from '../../parts/chart.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { useMay } from '../../session/caller.ts'
import { AgentCosts } from './agent-costs.tsx'
import { Causes } from './causes.tsx'
import { Figures } from './figures.tsx'
import { NeedsYou } from './needs-you.tsx'
import { comparedDays, dayOf, startOfWeek } from './overview-words.ts'
import { Providers } from './providers.tsx'
import { RecentTasks, RunningTasks } from './running-tasks.tsx'
import './overview.css'

const sorts = ['Task', 'Usage', 'Provider', 'Approval', 'MemoryProposal']

export default function OverviewPage() {
  const { query } = useScope()
  const overview = useSum(sorts, getOverview, { query })
  const runs = useSum(['Task'], getRuns, { query: { ...query, days: comparedDays } })
  const error = overview.error ?? runs.error
  return (
    <Page title="Overview">
      {error !== null && (
        <Failure
          error={error}
          retry={() => {
            void overview.refetch()
            void runs.refetch()
          }}
        />
      )}
      {error === null && (overview.data === undefined || runs.data === undefined) && <Loading what="the overview" />}
      {overview.data !== undefined && runs.data !== undefined && <Numbers of={overview.data} runs={runs.data} />}
    </Page>
  )
}

/** Nothing for those who may not see costs. */
function useDailyUse(since: string | undefined) {
  const { namespace } = useScope()
  const may = useMay(getUsage)
  const used = useSum(['Usage'], getUsage, { query: { groupBy: 'day', since, ...(namespace && { namespace }) } }, may)
  return may && !isSvcError(used.error, 'Forbidden') ? (used.data?.items ?? []) : undefined
}

function Numbers({ of, runs }: { of: Overview; runs: RunSums }) {
  const used = useDailyUse(runs.days[0]?.start)
  return (
    <>
      <NeedsYou of={of} />
      <Figures of={of} runs={runs} used={used} />
      <div className="overview">
        <Causes />
        {used !== undefined && <AgentCosts since={startOfWeek(runs)} />}
        <RunningTasks />
        <RecentTasks />
        <Days of={runs} />
        <Providers of={of} />
      </div>
    </>
  )
}

function Days({ of: { days } }: { of: RunSums }) {
  return (
    <section className="card overview-wide" aria-labelledby="throughput">
      <h2 id="throughput">Runs by the day</h2>
      <Chart
        title="Runs that ended in the last 14 days"
        starts={days.map(({ start }) => start)}
        series={[
          { name: 'Succeeded', tone: 'good', values: days.map(({ succeeded }) => succeeded) },
          { name: 'Failed', tone: 'bad', values: days.map(({ failed }) => failed) },
          { name: 'Cancelled', tone: 'plain', values: days.map(({ cancelled }) => cancelled) },
        ]}
        formatStart={dayOf}
      />
    </section>
  )
}
