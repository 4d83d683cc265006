// What runs now.
import { Link } from 'react-router'
import { useObjects } from '../../data/lists.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { pathOf } from '../../parts/task-columns.tsx'
import { Span } from '../../parts/time.tsx'

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
              <Foreign className="soft" text={task.spec?.agentRef?.name} />
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
