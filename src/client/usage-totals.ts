// Sums of usage in one: its total, and the share of each.
import type { UsageItem } from '../contract/api/budgets/usage.ts'
import { formatMoney } from './money.ts'

export type UsageTotal = Pick<UsageItem, 'llmCalls' | 'inputTokens' | 'outputTokens' | 'cachedTokens'> & {
  /** By currency, with what is estimated. */
  costs: ReadonlyMap<string, number>
}

type CostedItem = Pick<UsageItem, 'cost' | 'estimatedCost' | 'currency'>

/** With what is estimated; undefined: it has no price. */
export function costOf({ cost, estimatedCost = 0 }: CostedItem): number | undefined {
  return cost === undefined ? undefined : cost + estimatedCost
}

export function sumUsageItems(items: readonly UsageItem[]): UsageTotal {
  const sum = (read: (item: UsageItem) => number | undefined) =>
    items.reduce((total, item) => total + (read(item) ?? 0), 0)
  const costs = new Map<string, number>()
  for (const item of items) {
    const cost = costOf(item)
    if (cost !== undefined && item.currency !== undefined)
      costs.set(item.currency, (costs.get(item.currency) ?? 0) + cost)
  }
  return {
    llmCalls: sum(({ llmCalls }) => llmCalls),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    costs,
  }
}

/** Of the cost in its currency; of the tokens where nothing has a price. From 0 to 1; undefined: it has no part that can be compared. */
export function shareOfUsage(item: UsageItem, total: UsageTotal): number | undefined {
  const tokens = total.inputTokens + total.outputTokens
  if (total.costs.size === 0) return tokens === 0 ? undefined : (item.inputTokens + item.outputTokens) / tokens
  const [cost, whole] = [costOf(item), total.costs.get(item.currency ?? '')]
  return cost === undefined || !whole ? undefined : cost / whole
}

export function formatTotalCost({ costs }: UsageTotal): string {
  return [...costs].map(([currency, cost]) => formatMoney(cost, currency)).join(', ')
}
