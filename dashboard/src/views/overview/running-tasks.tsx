// What runs now, and what ended last.
import { Link } from 'react-router'
import { listTasks } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjects } from '../../data/lists.ts'
import { namespaceOf } from '../../data/summary.ts'
import { useSum } from '../../data/sums.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { useScope, useScopedPath } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { pathOf, type TaskRow } from '../../parts/task-columns.tsx'
import { Ago, Span } from '../../parts/time.tsx'

const mostShown = 12

export function RunningTasks() {
  const { query } = useScope()
  const { items, error, isLoading, reload, total } = useObjects('Task', {
    ...query,
    phase: 'Running',
    sort: '-created',
  })
  const more = (total ?? items.length) - mostShown
  return (
    <section className="card" aria-labelledby="running">
      <h2 id="running">Running now</h2>
      {error !== null && <Failure error={error} retry={reload} />}
      {isLoading && <Loading what="running tasks" />}
      {!isLoading && items.length === 0 && (
        <Empty title="Nothing is running">
          <Link to="/tasks/new" className="button">
            New task
          </Link>
        </Empty>
      )}
      <ul className="stack">
        {items.slice(0, mostShown).map((task) => (
          <li key={task.metadata.uid}>
            <span className="row">
              <Link to={pathOf(task)}>
                <Foreign text={task.metadata.name} />
              </Link>
              <AgentOf task={task} />
              <Span from={task.status?.startTime} to={undefined} />
            </span>
            <Foreign className="soft" text={task.status?.message} most={200} />
          </li>
        ))}
        {more > 0 && (
          <li>
            <Link to="/tasks?phase=Running">{more} more</Link>
          </li>
        )}
      </ul>
    </section>
  )
}

function AgentOf({ task }: { task: TaskRow }) {
  const { name, namespace = namespaceOf(task) } = task.spec?.agentRef ?? {}
  return <ObjectLink kind="Agent" namespace={namespace} name={name} className="soft" />
}

const recent = 8

export function RecentTasks() {
  const { query } = useScope()
  const scoped = useScopedPath()
  const ended = { phase: 'Succeeded,Failed,Cancelled', sort: '-created', view: 'summary', limit: recent } as const
  const tasks = useSum(['Task'], listTasks, { query: { ...query, ...ended } })
  const items = (tasks.data?.items ?? []) as unknown as TaskRow[]
  return (
    <section className="card" aria-labelledby="recent">
      <h2 id="recent">Last runs</h2>
      {tasks.error !== null && <Failure error={tasks.error} />}
      {items.length === 0 && tasks.error === null && <p className="soft">Nothing has ended yet.</p>}
      <ul className="stack">
        {items.map((task) => (
          <li key={task.metadata.uid} className="row">
            <Badge>{task.status?.phase ?? 'Pending'}</Badge>
            <Link to={pathOf(task)}>
              <Foreign text={task.metadata.name} />
            </Link>
            <AgentOf task={task} />
            <span className="grow" />
            <span className="soft">
              <Ago at={task.status?.completionTime ?? task.metadata.creationTimestamp} />
            </span>
          </li>
        ))}
      </ul>
      {items.length > 0 && (
        <p>
          <Link className="text-link" to={scoped('/tasks')}>
            All tasks
          </Link>
        </p>
      )}
    </section>
  )
}
