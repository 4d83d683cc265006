// The numbers of an overview from sums of the stores: hours in UTC, written as `2026-01-31T14`.
import { maxReasons, type Overview, overviewHours, type ProviderState } from '../../contract/api/service/overview.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { taskPhases } from '../../contract/kinds/tasks/task.ts'

type Sum = { value: string; count: number }
type Used = NonNullable<Overview['usage']>['today']
/** Counted use of one hour in one currency. */
type HourOfUse = {
  key: string
  llmCalls: number
  inputTokens: number
  outputTokens: number
  cost?: number | undefined
  currency?: string | undefined
}

const hourMs = 3_600_000

/** The hours of an overview, oldest first. */
export function listHours(now: Date): string[] {
  const current = Math.floor(now.getTime() / hourMs)
  const starts = Array.from({ length: overviewHours }, (_, at) => (current - overviewHours + 1 + at) * hourMs)
  return starts.map((start) => new Date(start).toISOString().slice(0, 13))
}

/** When an hour begins. */
export function startOfHour(hour: string): string {
  return `${hour}:00:00.000Z`
}

function addUp(sums: readonly Sum[], keyOf: (value: string) => string | undefined): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { value, count } of sums) {
    const key = keyOf(value)
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + count)
  }
  return counts
}

export function countPhases(sums: readonly Sum[]): Overview['tasks'] {
  const counts = addUp(sums, (value) => value)
  const counted = taskPhases.map((phase) => [phase, counts.get(phase) ?? 0])
  return Object.fromEntries(counted) as Overview['tasks']
}

/** `sums`: values are the times at which pending tasks were created, the first of each namespace at least. */
export function describeQueue(pending: number, sums: readonly Sum[]): Overview['queue'] {
  const [oldest] = sums.map(({ value }) => value).toSorted()
  return { pending, ...(oldest !== undefined && { oldest }) }
}

/** `sums`: values as of the tally `ended`. */
export function countEnds(sums: readonly Sum[], hours: readonly string[]): Overview['hours'] {
  const counts = addUp(sums, (value) => value.slice(0, value.lastIndexOf(' ')))
  return hours.map((hour) => {
    const of = (phase: string) => counts.get(`${hour} ${phase}`) ?? 0
    return {
      start: startOfHour(hour),
      succeeded: of('Succeeded'),
      failed: of('Failed'),
      cancelled: of('Cancelled'),
    }
  })
}

/** The same sums, by the reasons of failures. */
export function rankFailures(sums: readonly Sum[]): Overview['failures'] {
  const byReason = addUp(sums, (value) => {
    const [, phase, reason] = value.split(' ')
    return phase === 'Failed' ? reason || 'Unknown' : undefined
  })
  const ranked = [...byReason].map(([reason, count]) => ({ reason, count }))
  return ranked.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)).slice(0, maxReasons)
}

function addUse(sums: readonly HourOfUse[]): Used {
  const total: Used = { llmCalls: 0, inputTokens: 0, outputTokens: 0, costs: {} }
  for (const { llmCalls, inputTokens, outputTokens, cost, currency } of sums) {
    total.llmCalls += llmCalls
    total.inputTokens += inputTokens
    total.outputTokens += outputTokens
    if (cost !== undefined && currency !== undefined) total.costs[currency] = (total.costs[currency] ?? 0) + cost
  }
  return total
}

/** Use of models by the hour, and of the day of the last one. */
export function describeUse(sums: readonly HourOfUse[], hours: readonly string[]): NonNullable<Overview['usage']> {
  const day = hours.at(-1)?.slice(0, 10) ?? ''
  return {
    today: addUse(sums.filter(({ key }) => key.startsWith(day))),
    hours: hours.map((hour) => ({ start: startOfHour(hour), ...addUse(sums.filter(({ key }) => key === hour)) })),
  }
}

function stateOf({ status }: Provider, now: string): ProviderState['state'] {
  if (status?.ready === undefined) return 'unknown'
  if (!status.ready) return 'notReady'
  if (status.lastError !== undefined) return 'failing'
  return (status.coolingDownUntil ?? '') > now ? 'coolingDown' : 'good'
}

/** How a provider does by its status. */
export function describeProvider(provider: Provider, now: Date): ProviderState {
  const { metadata, spec, status = {} } = provider
  const { coolingDownUntil, lastReached, lastError, message } = status
  const state = stateOf(provider, now.toISOString())
  const why = state === 'failing' ? lastError : state === 'good' ? undefined : message
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    type: spec.type,
    state,
    ...(why !== undefined && { message: why }),
    ...(state === 'coolingDown' && { coolingDownUntil }),
    ...(lastReached !== undefined && { lastReached }),
  }
}

const urgency: readonly ProviderState['state'][] = ['failing', 'notReady', 'coolingDown', 'unknown', 'good']

/** Those with trouble first, then by name. */
export function sortByTrouble(states: readonly ProviderState[]): ProviderState[] {
  const key = ({ state, namespace, name }: ProviderState) => `${urgency.indexOf(state)} ${namespace}/${name}`
  return states.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}
