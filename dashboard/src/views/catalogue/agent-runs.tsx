// What an agent did: its runs, how many of them succeeded, what they cost, and the last ones.
import { useState } from 'react'
import { Link } from 'react-router'
import { formatMoney } from '../../../../src/client/money.ts'
import { getUsage } from '../../../../src/contract/api/budgets/usage.ts'
import { getRuns } from '../../../../src/contract/api/service/runs.ts'
import { listTasks } from '../../../../src/contract/api/tasks/tasks.ts'
import { useSum } from '../../data/sums.ts'
import { Badge } from '../../parts/badge.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { pathOf, type TaskRow } from '../../parts/task-columns.tsx'
import { Ago } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { useMay } from '../../session/caller.ts'

const days = 30
const recent = 8
const dayMs = 86_400_000

type AgentProps = { place: { namespace: string; name: string } }

export function AgentRuns({ place: { namespace, name } }: AgentProps) {
  const runs = useSum(['Task'], getRuns, { query: { namespace, agent: name, days } })
  const costs = useCosts({ namespace, name })
  const sum = (phase: 'succeeded' | 'failed' | 'cancelled') =>
    (runs.data?.days ?? []).reduce((all, day) => all + day[phase], 0)
  const [succeeded, failed] = [sum('succeeded'), sum('failed')]
  return (
    <section className="card" aria-labelledby="agent-sums">
      <h2 id="agent-sums">The last 30 days</h2>
      <Facts
        of={[
          ['Runs', formatCount(succeeded + failed + sum('cancelled'))],
          ['Succeeded', succeeded + failed > 0 && `${Math.round((succeeded / (succeeded + failed)) * 1000) / 10} %`],
          ['Failed', failed > 0 && formatCount(failed)],
          ['Cost', costs !== '' && <Foreign text={costs} />],
        ]}
      />
    </section>
  )
}

function useCosts({ namespace, name }: AgentProps['place']): string {
  const [since] = useState(() => new Date(Date.now() - days * dayMs).toISOString())
  const may = useMay(getUsage)
  const used = useSum(['Usage'], getUsage, { query: { namespace, groupBy: 'agent', name, since } }, may)
  const items = used.data?.items ?? []
  return items.flatMap(({ cost, currency }) => (cost === undefined ? [] : [formatMoney(cost, currency)])).join(' + ')
}

export function AgentTasks({ place: { namespace, name } }: AgentProps) {
  const query = { namespace, agent: name, sort: '-created', view: 'summary', limit: recent } as const
  const tasks = useSum(['Task'], listTasks, { query })
  const items = (tasks.data?.items ?? []) as unknown as TaskRow[]
  return (
    <section className="card" aria-labelledby="agent-tasks">
      <h2 id="agent-tasks">Last runs</h2>
      {items.length === 0 && <p className="soft">It has not run yet.</p>}
      <ul className="stack">
        {items.map((task) => (
          <li key={task.metadata.uid} className="row">
            <Badge>{task.status?.phase ?? 'Pending'}</Badge>
            <Link to={pathOf(task)}>
              <Foreign text={task.metadata.name} />
            </Link>
            <span className="soft">
              <Ago at={task.metadata.creationTimestamp} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
