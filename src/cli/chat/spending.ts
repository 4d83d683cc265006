// The cost of turns and sessions, in one line.
import { formatMoney } from '../../client/money.ts'
import type { UsageItem } from '../../contract/api/budgets/usage.ts'
import type { ChatUsage } from '../../contract/api/chat/chat.ts'

type Spending = Pick<ChatUsage, 'inputTokens' | 'outputTokens' | 'costs' | 'unpricedCalls'>

/** `30 tokens (20 in, 10 out), 0.0012 USD, 1 call without a price`. */
export function describeSpending({ inputTokens, outputTokens, costs = {}, unpricedCalls = 0 }: Spending): string {
  const money = Object.entries(costs).map(([currency, cost]) => formatMoney(cost, currency))
  const calls = unpricedCalls === 1 ? '1 call' : `${unpricedCalls} calls`
  return [
    `${inputTokens + outputTokens} tokens (${inputTokens} in, ${outputTokens} out)`,
    ...money,
    ...(unpricedCalls > 0 ? [`${calls} without a price`] : []),
  ].join(', ')
}

/** The sums of one session, which has one item per currency; includes estimates of what no vendor counted. */
export function sumItems(items: readonly UsageItem[]): Spending {
  const sum = { inputTokens: 0, outputTokens: 0, costs: {} as Record<string, number>, unpricedCalls: 0 }
  for (const item of items) {
    const { cost, currency = '', estimatedCost = 0, unpricedCalls = 0 } = item
    sum.inputTokens += item.inputTokens + (item.estimatedInputTokens ?? 0)
    sum.outputTokens += item.outputTokens + (item.estimatedOutputTokens ?? 0)
    sum.unpricedCalls += unpricedCalls
    if (cost !== undefined) sum.costs[currency] = (sum.costs[currency] ?? 0) + cost + estimatedCost
  }
  return sum
}

/** `1.2s, 30 tokens (20 in, 10 out), 0.0012 USD`. */
export function describeTurn(usage: ChatUsage): string {
  return `${usage.duration}, ${describeSpending(usage)}`
}
