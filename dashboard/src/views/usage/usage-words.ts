// Usage as the page shows it: the time that is looked at, and what was used in it by day, by group and in all.
import { formatMoney } from '../../../../src/client/money.ts'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'

export const periods = [
  { name: 'month', title: 'this month' },
  { name: 'last-month', title: 'last month' },
  { name: '7d', title: 'the last 7 days' },
  { name: '30d', title: 'the last 30 days' },
  { name: '90d', title: 'the last 90 days' },
  { name: '365d', title: 'the last year' },
  { name: 'custom', title: 'from … to …' },
] as const

const dayMs = 86_400_000
const maxDays = 400

/** From the start of the first day to the end of the last, in UTC. */
export type Range = { since: string; until: string }

/** `2026-01-31`, when it is a day that there is. */
export function readDay(text: string | null | undefined): string | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text ? undefined : text
}

function rangeOfTimes(since: number, until: number): Range {
  const first = Math.max(since, until - maxDays * dayMs)
  return { since: new Date(first).toISOString(), until: new Date(until).toISOString() }
}

/** The same all day, so that what was read is of use. A custom one that is wrong, or has no days, is undefined. */
export function rangeOf(
  name: string,
  { from, to }: { from?: string; to?: string },
  now = Date.now(),
): Range | undefined {
  const tomorrow = Math.floor(now / dayMs) * dayMs + dayMs
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()]
  if (name === 'month') return rangeOfTimes(Date.UTC(year, month, 1), tomorrow)
  if (name === 'last-month') return rangeOfTimes(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1))
  if (name !== 'custom') return rangeOfTimes(tomorrow - Number.parseInt(name, 10) * dayMs, tomorrow)
  const [first, last] = [readDay(from), readDay(to)]
  if (first === undefined || last === undefined || first > last) return undefined
  return rangeOfTimes(Date.parse(first), Date.parse(last) + dayMs)
}

/** Estimates included. */
export const moneyOf = ({ cost = 0, estimatedCost = 0 }: UsageItem): number => cost + estimatedCost

export function tokensOf(item: UsageItem): number {
  const { inputTokens, outputTokens, estimatedInputTokens = 0, estimatedOutputTokens = 0 } = item
  return inputTokens + outputTokens + estimatedInputTokens + estimatedOutputTokens
}

const sumOf = (items: readonly UsageItem[], read: (item: UsageItem) => number) =>
  items.reduce((sum, item) => sum + read(item), 0)

/** The currency with the most money; undefined where nothing has a price. */
export function mainCurrency(items: readonly UsageItem[]): string | undefined {
  const sums = [...Map.groupBy(items, ({ currency }) => currency)].flatMap(([currency, own]) =>
    currency === undefined ? [] : [{ currency, sum: sumOf(own, moneyOf) }],
  )
  return sums.toSorted((a, b) => b.sum - a.sum)[0]?.currency
}

export type Measure = { name: 'cost' | 'tokens'; read: (item: UsageItem) => number; currency: string | undefined }

/** What is compared: money, where there is any; what is in another currency counts for none. */
export function measureOf(items: readonly UsageItem[]): Measure {
  const currency = mainCurrency(items)
  if (currency === undefined) return { name: 'tokens', read: tokensOf, currency }
  return { name: 'cost', read: (item) => (item.currency === currency ? moneyOf(item) : 0), currency }
}

export const nameOf = ({ key, caller }: UsageItem): string => caller?.name ?? (key === '' ? 'none' : key)

const identityOf = ({ key, caller }: UsageItem) => JSON.stringify([key, caller?.kind])

export type Stack = { starts: string[]; series: { name: string; values: number[] }[] }

const maxSeries = 5

/** Per day the largest groups, each apart, and the others together. Every day of the time is there. */
export function stackOf(items: readonly UsageItem[], { since, until }: Range, { read }: Measure): Stack {
  const count = Math.round((Date.parse(until) - Date.parse(since)) / dayMs)
  const starts = Array.from({ length: count }, (_, at) => new Date(Date.parse(since) + at * dayMs).toISOString())
  const valuesOf = (own: readonly UsageItem[]) => {
    const byDay = Map.groupBy(own, ({ at }) => at)
    return starts.map((start) => sumOf(byDay.get(start.slice(0, 10)) ?? [], read))
  }
  const groups = [...Map.groupBy(items, identityOf).values()].toSorted((a, b) => sumOf(b, read) - sumOf(a, read))
  const isAll = groups.length <= maxSeries
  const apart = groups.slice(0, isAll ? maxSeries : maxSeries - 1)
  const others = groups.slice(apart.length).flat()
  const series = apart.map((own) => ({ name: own[0] === undefined ? '' : nameOf(own[0]), values: valuesOf(own) }))
  return { starts, series: isAll ? series : [...series, { name: 'all others', values: valuesOf(others) }] }
}

export const sorts = ['cost', 'tokens', 'calls', 'name'] as const
export type Sort = (typeof sorts)[number]

export function sortRows(items: readonly UsageItem[], sort: Sort, { read }: Measure): UsageItem[] {
  const by = { cost: read, tokens: tokensOf, calls: ({ llmCalls }: UsageItem) => llmCalls }
  if (sort === 'name') return items.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  return items.toSorted((a, b) => by[sort](b) - by[sort](a) || tokensOf(b) - tokensOf(a))
}

/** `12.5 %`, of all that is compared; less than a thousandth is not nothing. */
export function shareOf(item: UsageItem, items: readonly UsageItem[], { read }: Measure): string {
  const share = read(item) / (sumOf(items, read) || 1)
  return share > 0 && share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`
}

/** All rows in one, tokens and calls of every currency, and the money of each. */
export function totalOf(items: readonly UsageItem[]): { calls: number; input: number; output: number; cost: string } {
  const money = [...Map.groupBy(items, ({ currency }) => currency)].flatMap(([currency, own]) =>
    currency === undefined ? [] : [formatMoney(sumOf(own, moneyOf), currency)],
  )
  return {
    calls: sumOf(items, ({ llmCalls }) => llmCalls),
    input: sumOf(items, ({ inputTokens, estimatedInputTokens = 0 }) => inputTokens + estimatedInputTokens),
    output: sumOf(items, ({ outputTokens, estimatedOutputTokens = 0 }) => outputTokens + estimatedOutputTokens),
    cost: money.length === 0 ? 'no price' : money.join(', '),
  }
}

/** What the calls cost, estimates included. */
export function costOf({ cost, estimatedCost = 0, currency, unpricedCalls = 0 }: UsageItem): string {
  if (cost === undefined) return 'no price'
  const calls = unpricedCalls === 1 ? '1 call' : `${unpricedCalls} calls`
  return `${formatMoney(cost + estimatedCost, currency)}${unpricedCalls > 0 ? ` (${calls} without a price)` : ''}`
}
