// The numbers of the week, each with what it was the week before, and a link to what it counts.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import type { Overview } from '../../../../src/contract/api/service/overview.ts'
import type { RunSums } from '../../../../src/contract/api/service/runs.ts'
import { describeChange } from '../../parts/change.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScopedPath, withQuery } from '../../parts/scope.ts'
import { Ago } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { describeCostChange, describeCosts, formatShare, listWeeks, successOf } from './overview-words.ts'

type FiguresProps = { of: Overview; runs: RunSums; used: readonly UsageItem[] | undefined }

export function Figures({ of, runs, used }: FiguresProps) {
  const scoped = useScopedPath()
  const { now, before } = listWeeks(runs, used ?? [])
  const success = successOf(now)
  const earlier = successOf(before)
  return (
    <ul className="figures">
      {used !== undefined && (
        <Figure title="Cost, 7 days" value={describeCosts(now.costs)} to={scoped('/usage')}>
          <Before change={describeCostChange(now.costs, before.costs)} was={describeCosts(before.costs)} />
        </Figure>
      )}
      <Figure title="Runs, 7 days" value={formatCount(now.runs)} to={scoped('/tasks')}>
        <Before change={describeChange(now.runs, before.runs)} was={formatCount(before.runs)} />
      </Figure>
      <Figure
        title="Succeeded, 7 days"
        value={success === undefined ? '–' : formatShare(success)}
        to={withQuery(scoped('/tasks'), 'phase=Failed')}
      >
        <Before change={undefined} was={earlier === undefined ? '–' : formatShare(earlier)} />
      </Figure>
      <Figure title="Running" value={of.tasks.Running ?? 0} to={withQuery(scoped('/tasks'), 'phase=Running')} />
      <Figure title="Waiting" value={of.queue.pending} to={withQuery(scoped('/tasks'), 'phase=Pending')}>
        {of.queue.oldest !== undefined && (
          <>
            the oldest came <Ago at={of.queue.oldest} />
          </>
        )}
      </Figure>
    </ul>
  )
}

/** What the week before was. */
function Before({ change, was }: { change: string | undefined; was: string }) {
  return (
    <>
      {change !== undefined && <strong className="number">{change}</strong>} week before <Foreign text={was} />
    </>
  )
}

type FigureProps = { title: string; value: string | number; to: string; children?: ReactNode }

function Figure({ title, value, to, children }: FigureProps) {
  return (
    <li className="card figure">
      <Link to={to}>
        <span className="soft">{title}</span>
        <strong className="number">
          <Foreign text={String(value)} />
        </strong>
      </Link>
      {children !== undefined && <span className="soft figure-more">{children}</span>}
    </li>
  )
}
