// Tokens and cost of the task, and what is left of its budgets.

import { getUsage } from '../../../../src/contract/api/budgets/usage.ts'
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { useRecord } from '../../data/records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { describeLeft, UsageFacts } from '../../parts/usage-facts.tsx'
import type { TaskPlace } from './place.ts'

/** Of a task that runs the records tell more than its status, to those who may read them. */
export function UsageTab({ task, place }: { task: TaskDetail; place: TaskPlace }) {
  const { namespace, name } = place
  const records = useRecord('Usage', getUsage, { query: { namespace, groupBy: 'task', name } })
  if (records.isLoading) return <Loading what="usage" />
  const used = task.status?.usage
  const items = records.data?.items ?? []
  const shown = items.length > 0 ? items : used === undefined ? [] : [{ key: name, ...used, budgets: undefined }]
  return (
    <div className="stack">
      {records.error !== null && used === undefined && <Failure error={records.error} />}
      {shown.length === 0 && records.error === null && (
        <Empty title="It has called no model">
          <p>Tokens and cost of its model calls appear here as they are made.</p>
        </Empty>
      )}
      <div className="grid">
        {shown.map((item) => (
          <section key={`${item.key} ${item.currency}`} className="card">
            <h2>{item.currency === undefined ? 'Used' : `Used, in ${item.currency}`}</h2>
            <UsageFacts usage={item} />
          </section>
        ))}
        {shown.flatMap(({ budgets = [] }) =>
          budgets.map((budget) => (
            <section key={budget.name ?? ''} className="card">
              <h2>
                {budget.name === undefined ? 'Its own budget' : 'Budget '}
                <Foreign text={budget.name} />
              </h2>
              <p>
                {budget.usedUp && (
                  <span className="badge" data-tone="bad">
                    used up
                  </span>
                )}{' '}
                {describeLeft(budget)} left
              </p>
            </section>
          )),
        )}
      </div>
    </div>
  )
}
