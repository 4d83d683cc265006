// How much of a budget is spent: amber from four fifths on, red once it is used up.
import { formatMoney } from '../../../../src/client/money.ts'
import type { BudgetItem } from '../../../../src/contract/api/budgets/budgets.ts'
import { Badge } from '../../parts/badge.tsx'
import { shareSpent } from '../../parts/budget-share.ts'
import { formatCount } from '../../parts/usage-facts.tsx'
import { toneOf } from './budget-words.ts'
import './budget-meter.css'

const words = { good: 'open', warn: 'nearly used up', bad: 'used up' }

export function BudgetBadge({ budget }: { budget: BudgetItem }) {
  const tone = budget.usedUp ? 'bad' : toneOf(shareSpent(budget))
  return <Badge tone={tone}>{words[tone]}</Badge>
}

export function BudgetMeters({ budget: { name, spec, spent } }: { budget: BudgetItem }) {
  const { maxTokens, maxCost, currency } = spec
  return (
    <>
      {maxTokens !== undefined && (
        <Meter
          label={`Tokens of ${name}`}
          used={spent.tokens}
          max={maxTokens}
          words={`${formatCount(spent.tokens)} of ${formatCount(maxTokens)} tokens`}
        />
      )}
      {maxCost !== undefined && (
        <Meter
          label={`Money of ${name}`}
          used={spent.cost}
          max={maxCost}
          words={`${formatMoney(spent.cost)} of ${formatMoney(maxCost, currency)}`}
        />
      )}
    </>
  )
}

function Meter({ label, used, max, words: text }: { label: string; used: number; max: number; words: string }) {
  const tone = toneOf(max === 0 ? 1 : used / max)
  return (
    <span className="row">
      <meter
        className="budget-meter"
        data-tone={tone}
        aria-label={label}
        min={0}
        max={Math.max(max, 1e-9)}
        value={max === 0 ? 1 : Math.min(used, max)}
      />
      <span className="number">{text}</span>
    </span>
  )
}
