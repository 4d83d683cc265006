// Budgets on the page of costs; for owners.
import { Link } from 'react-router'
import { listBudgets } from '../../../../src/contract/api/budgets/budgets.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useSum } from '../../data/sums.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Failure } from '../../parts/states.tsx'
import { BudgetBadge, BudgetMeters } from './budget-meter.tsx'
import { describeScope } from './budget-words.ts'

export function Budgets() {
  const budgets = useSum(['Budget', 'Usage'], listBudgets)
  if (isSvcError(budgets.error, 'Forbidden')) return null
  if (budgets.error !== null) return <Failure error={budgets.error} />
  const items = budgets.data?.items ?? []
  return (
    <section className="card stack" aria-labelledby="budgets">
      <h2 id="budgets">
        <Link className="text-link" to="/budgets">
          Budgets
        </Link>
      </h2>
      {items.length === 0 ? (
        <p className="soft">
          There are none. A{' '}
          <Link className="text-link" to="/budgets/new">
            new budget
          </Link>{' '}
          bounds what an agent, a caller or a namespace may use.
        </p>
      ) : (
        <ul className="grid">
          {items.map((budget) => (
            <li key={budget.name} className="stack">
              <span className="row">
                <Link className="text-link" to={`/budgets/${encodeURIComponent(budget.name)}`}>
                  <Foreign text={budget.name} />
                </Link>
                <BudgetBadge budget={budget} />
              </span>
              <Foreign className="soft" text={describeScope(budget.spec)} />
              <BudgetMeters budget={budget} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
