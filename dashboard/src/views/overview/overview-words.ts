// The numbers of the overview in words: a week, and what the week before was.
import { formatMoney } from '../../../../src/client/money.ts'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import type { RunSums } from '../../../../src/contract/api/service/runs.ts'
import { describeChange } from '../../parts/change.ts'

const weekDays = 7
/** This week and the one before. */
export const comparedDays = 2 * weekDays

export type Costs = Readonly<Record<string, number>>
export type Week = { succeeded: number; failed: number; runs: number; costs: Costs }

function sumDays(days: RunSums['days']): Omit<Week, 'costs'> {
  const add = (countOf: (day: RunSums['days'][number]) => number) => days.reduce((sum, day) => sum + countOf(day), 0)
  return {
    succeeded: add(({ succeeded }) => succeeded),
    failed: add(({ failed }) => failed),
    runs: add(({ succeeded, failed, cancelled }) => succeeded + failed + cancelled),
  }
}

export function sumCosts(items: readonly Pick<UsageItem, 'cost' | 'currency'>[]): Costs {
  const costs: Record<string, number> = {}
  for (const { cost, currency = '' } of items) if (cost !== undefined) costs[currency] = (costs[currency] ?? 0) + cost
  return costs
}

/** `used`: sums of use by the day (`2026-01-31`). */
export function listWeeks({ days }: RunSums, used: readonly UsageItem[]): { now: Week; before: Week } {
  const weekOf = (some: RunSums['days']) => {
    const keys = new Set(some.map(({ start }) => start.slice(0, 10)))
    return { ...sumDays(some), costs: sumCosts(used.filter(({ key }) => keys.has(key))) }
  }
  return { now: weekOf(days.slice(-weekDays)), before: weekOf(days.slice(-comparedDays, -weekDays)) }
}

/** When this week began, as the service has it. */
export function startOfWeek({ days }: RunSums): string {
  return days.at(-weekDays)?.start ?? ''
}

/** `96.4 %`; undefined where nothing succeeded or failed. */
export function successOf({ succeeded, failed }: Pick<Week, 'succeeded' | 'failed'>): number | undefined {
  return succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed)
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export const formatShare = (share: number): string => percent.format(share)

/** `0.42 USD + 3 EUR`; `–` where nothing has a price. */
export function describeCosts(costs: Costs): string {
  const parts = Object.entries(costs).map(([currency, cost]) => formatMoney(cost, currency))
  return parts.join(' + ') || '–'
}

/** Of costs in one currency alone. */
export function describeCostChange(now: Costs, before: Costs): string | undefined {
  const [currency, more] = Object.keys({ ...now, ...before })
  if (currency === undefined || more !== undefined) return undefined
  return describeChange(now[currency] ?? 0, before[currency] ?? 0)
}

/** The day as this browser's user writes it. */
export function dayOf(start: string): string {
  return new Date(start).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
