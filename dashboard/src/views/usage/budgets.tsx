// Budgets and how much of them is spent; for owners.
import { formatMoney } from '../../../../src/client/money.ts'
import { type BudgetItem, listBudgets } from '../../../../src/contract/api/budgets/budgets.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useSum } from '../../data/sums.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Failure } from '../../parts/states.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'

export function Budgets() {
  const budgets = useSum(['Budget', 'Usage'], listBudgets)
  if (isSvcError(budgets.error, 'Forbidden')) return null
  if (budgets.error !== null) return <Failure error={budgets.error} />
  const items = budgets.data?.items ?? []
  return (
    <section className="card stack" aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      {items.length === 0 ? (
        <p className="soft">
          There are none. <code>svc budget set</code> bounds what an agent, a caller or a namespace may use.
        </p>
      ) : (
        <ul className="grid">
          {items.map((budget) => (
            <Budget key={budget.name} budget={budget} />
          ))}
        </ul>
      )}
    </section>
  )
}

function describeScope({ scope }: BudgetItem['spec']): string {
  const parts = Object.entries(scope).map(([name, value]) => `${name} ${value}`)
  return parts.length === 0 ? 'the whole service' : parts.join(', ')
}

function Budget({ budget: { name, spec, spent, usedUp } }: { budget: BudgetItem }) {
  const { maxTokens, maxCost, currency, period } = spec
  return (
    <li className="stack">
      <span className="row">
        <strong>
          <Foreign text={name} />
        </strong>
        <span className="badge" data-tone={usedUp ? 'bad' : 'good'}>
          {usedUp ? 'used up' : `per ${period}`}
        </span>
      </span>
      <Foreign className="soft" text={describeScope(spec)} />
      {maxTokens !== undefined && (
        <Meter
          label={`Tokens of ${name}`}
          used={spent.tokens}
          most={maxTokens}
          words={`${formatCount(spent.tokens)} of ${formatCount(maxTokens)} tokens`}
        />
      )}
      {maxCost !== undefined && (
        <Meter
          label={`Money of ${name}`}
          used={spent.cost}
          most={maxCost}
          words={`${formatMoney(spent.cost)} of ${formatMoney(maxCost, currency)}`}
        />
      )}
    </li>
  )
}

function Meter({ label, used, most, words }: { label: string; used: number; most: number; words: string }) {
  return (
    <span className="row">
      <meter aria-label={label} min={0} max={Math.max(most, 1e-9)} value={Math.min(used, most)} />
      <span className="number">{words}</span>
    </span>
  )
}
