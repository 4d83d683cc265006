// Why runs failed this week, by cause and agent.
import { Link } from 'react-router'
import { getRuns } from '../../../../src/contract/api/service/runs.ts'
import { useSum } from '../../data/sums.ts'
import { describeFailure } from '../../parts/failure-words.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScope, useScopedPath, withQuery } from '../../parts/scope.ts'
import { Failure } from '../../parts/states.tsx'

const weekDays = 7

export function Causes() {
  const scoped = useScopedPath()
  const { query } = useScope()
  const runs = useSum(['Task'], getRuns, { query: { ...query, days: weekDays } })
  const causes = runs.data?.causes ?? []
  return (
    <section className="card needs" aria-labelledby="failures">
      <h2 id="failures">
        Why runs failed <span className="soft">7 days</span>
      </h2>
      {runs.error !== null && <Failure error={runs.error} />}
      {causes.length === 0 && runs.error === null && <p className="soft">Nothing has failed.</p>}
      <ul>
        {causes.map(({ reason, agent, namespace, count }) => (
          <li key={`${namespace} ${agent} ${reason}`}>
            <Link className="plain-link need" to={addressOf(namespace, agent)}>
              <span className="need-dot" data-tone="bad" />
              <span>
                <Foreign text={describeFailure(reason)} />{' '}
                <Foreign className="soft" text={agent ?? 'without an agent'} />
              </span>
              <span className="number">{count}</span>
            </Link>
          </li>
        ))}
      </ul>
      {causes.length > 0 && (
        <p>
          <Link className="text-link" to={withQuery(scoped('/tasks'), 'phase=Failed')}>
            All failed tasks
          </Link>
        </p>
      )}
    </section>
  )
}

function addressOf(namespace: string, agent: string | undefined): string {
  const query = new URLSearchParams({ ns: namespace, phase: 'Failed', ...(agent !== undefined && { agent }) })
  return `/tasks?${query}`
}
