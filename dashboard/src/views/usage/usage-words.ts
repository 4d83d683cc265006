// Usage as the page shows it.
import { formatMoney } from '../../../../src/client/money.ts'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'

export type UsageRow = UsageItem

export const periods = [
  { name: '7d', title: '7 days', days: 7 },
  { name: '30d', title: '30 days', days: 30 },
  { name: '90d', title: '90 days', days: 90 },
  { name: '365d', title: 'year', days: 365 },
] as const

const dayMs = 86_400_000

/** Midnight in UTC, so many days back, today included: the same all day, so that what was read is of use. */
export function sinceOf(days: number, now = Date.now()): string {
  return new Date(Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs).toISOString()
}

export type Day = { start: string; input: number; output: number }

/** Every day of the time, oldest first, those without usage too. A day may have a line for each currency. */
export function daysOf(items: readonly UsageItem[], days: number, now = Date.now()): Day[] {
  const first = Date.parse(sinceOf(days, now))
  return Array.from({ length: days }, (_, at) => {
    const start = new Date(first + at * dayMs).toISOString()
    const own = items.filter(({ key }) => key === start.slice(0, 10))
    return {
      start,
      input: own.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
      output: own.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    }
  })
}

/** What the calls cost, estimates included. */
export function costOf({ cost, estimatedCost = 0, currency, unpricedCalls = 0 }: UsageItem): string {
  if (cost === undefined) return 'no price'
  return `${formatMoney(cost + estimatedCost, currency)}${unpricedCalls > 0 ? ` (${unpricedCalls} calls without a price)` : ''}`
}
