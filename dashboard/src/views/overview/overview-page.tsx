// What the service is doing.
import { Link } from 'react-router'
import { Page } from '../../app/page.tsx'
import { useScope } from '../../app/scope.ts'
import { useObjects } from '../../data/lists.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { pathOf } from '../tasks/task-list-page.tsx'

export default function OverviewPage() {
  const { query } = useScope()
  const running = useObjects('Task', { ...query, phase: 'Running', sort: '-created' })
  return (
    <Page title="Overview">
      <section className="card" aria-labelledby="running">
        <h2 id="running">Running now</h2>
        {running.error !== null && <Failure error={running.error} retry={running.reload} />}
        {running.isLoading ? (
          <Loading what="running tasks" />
        ) : running.items.length === 0 ? (
          <Empty title="Nothing is running">
            <p>
              <code>svc run "say hello"</code> starts something.
            </p>
          </Empty>
        ) : (
          <ul className="stack">
            {running.items.slice(0, 20).map((task) => (
              <li key={task.metadata.uid} className="row">
                <Badge>{task.status?.phase ?? 'Pending'}</Badge>
                <Link to={pathOf(task)}>
                  <Foreign text={task.metadata.name} />
                </Link>
                <Foreign className="soft" text={task.status?.message} most={200} />
              </li>
            ))}
          </ul>
        )}
      </section>
    </Page>
  )
}
