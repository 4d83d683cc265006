// Tokens and cost, one record per model call.
import type { BudgetScope, BudgetSpec } from '../../contract/api/budgets/budgets.ts'
import type { UsageGroup, UsagePeriod } from '../../contract/api/budgets/usage.ts'
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'

export type Budget = { name: string; spec: BudgetSpec }

export interface Budgets {
  /** All budgets, sorted by name. */
  list(): Promise<Budget[]>
  /** Creates the budget or replaces the one of the same name. */
  put(budget: Budget): Promise<void>
  /** False when it did not exist. */
  remove(name: string): Promise<boolean>
}

export type UsageRecord = {
  /** Idempotency: a second record with the same id is ignored. */
  id: string
  namespace: string
  provider: string
  model: string
  taskUid?: string
  taskName?: string
  session?: string | undefined
  agent?: string | undefined
  /** Never a task. */
  caller?: RecordedCaller | undefined
  monitor?: string | undefined
  scan?: string | undefined
  /** Of the task; without those of the service. */
  labels?: Record<string, string> | undefined
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  /** The part of the input that was written to a cache of the vendor; absent: none. */
  cacheWriteTokens?: number
  /** How many calls this record sums up; absent: one. */
  llmCalls?: number
  /** In the provider's currency; absent when it has no price. */
  cost?: number
  currency?: string
  /** Tokens that the vendor did not count, estimated from the length of what was sent and streamed. */
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  /** Estimated cost in `currency`, not included in `cost`. */
  estimatedCost?: number
  /** True for the demo provider, which is not a language model (PROV-014). */
  demo: boolean
  createdAt: string
}

/** What counts against limits: counted and estimated tokens together. */
export type SpentSums = {
  tokens: number
  /** By currency. */
  costs: Record<string, number>
  /** The number of calls without a cost. */
  unpricedCalls: number
}

export type UsageSum = {
  /**
   * Name of the task, session, agent, monitor, scan, provider, namespace or model, value of the label, or a month (`2026-01`), a day
   * (`2026-01-31`) or an hour (`2026-01-31T14`) in UTC; id of the caller, or its name where no id was recorded. Empty: what has none.
   */
  key: string
  /** With `per`: the month, day or hour. */
  at?: string
  /** For sums by caller, with the caller's most recent name: kind and id identify callers, names do not. */
  caller?: RecordedCaller
  /** The namespace of the named thing; absent for callers, who act in several. */
  namespace?: string
  /** For sums by task: distinguishes a task from a later one of the same name. */
  taskUid?: string
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  llmCalls: number
  /** Absent when none of the calls has a price. */
  cost?: number
  currency?: string
  /** How many of the calls have no price and are therefore missing from `cost`; absent when all have one. */
  unpricedCalls?: number
  /** Each present when it is not zero. */
  cacheWriteTokens?: number
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  estimatedCost?: number
}

/** `name`: only the groups with this key. `until` is exclusive. `label`: the key of the label that `groupBy: 'label'` sums by. */
export type UsageQuery = {
  groupBy: UsageGroup
  label?: string
  /** Sums for each of these apart. */
  per?: UsagePeriod
  namespace?: string
  /** Of all namespaces only these. */
  namespaces?: readonly string[]
  name?: string
  since?: Date
  until?: Date
}

export interface Usage {
  /**
   * Counts and money are clamped to bounds (1e12 tokens, 1e9 of a currency), so that sums cannot overflow. A record
   * that the store cannot accept is set aside with the reason, and does not hold back the others.
   */
  record(records: UsageRecord[]): Promise<void>
  /**
   * Sums per group and currency, largest output first, times newest first. Records without the group's field are a group of their own,
   * so that every grouping sums to the same total.
   */
  sum(query: UsageQuery): Promise<UsageSum[]>
  /** Exact sums of one task; money in the currency with the most output when the task was charged in several. */
  ofTask(taskUid: string): Promise<Omit<UsageSum, 'key'> | undefined>
  /** What a scope has used (`taskUids`: all of these tasks together), by the records' own times; `until` is exclusive. */
  spent(
    scope: BudgetScope & { taskUid?: string; taskUids?: readonly string[] },
    time: { since?: Date; until?: Date },
  ): Promise<SpentSums>
  sweep(before: Date): Promise<number>
}
