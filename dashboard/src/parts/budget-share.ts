// How much of a budget is used.
import type { BudgetItem } from '../../../src/contract/api/budgets/budgets.ts'

/** Of the limit that is nearest: 0.8 is four fifths. */
export function shareSpent({ spec: { maxTokens, maxCost }, spent }: BudgetItem): number {
  const shares = [
    [spent.tokens, maxTokens],
    [spent.cost, maxCost],
  ].map(([used = 0, max]) => (max === undefined ? 0 : max === 0 ? 1 : used / max))
  return Math.max(...shares)
}
