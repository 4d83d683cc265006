// Tokens and cost, one record per model call.
import type { BudgetScope } from '../contract/api/budgets.ts'
import type { RecordedCaller } from '../contract/api/caller.ts'

export type UsageRecord = {
  /** Idempotency: a second record with the same id is ignored. */
  id: string
  namespace: string
  provider: string
  model: string
  taskUid?: string
  taskName?: string
  session?: string
  agent?: string
  caller?: RecordedCaller
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  /** How many calls these are the sums of; absent: one. */
  llmCalls?: number
  /** In the provider's currency; absent when no price is set. */
  cost?: number
  currency?: string
  /** What the vendor did not count, by the length of what was sent and streamed. */
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  /** In `currency`, beside `cost`. */
  estimatedCost?: number
  /** The demo provider is no language model (PROV-014). */
  demo: boolean
  createdAt: string
}

export type UsageGroup = 'task' | 'session' | 'agent' | 'caller' | 'namespace' | 'provider' | 'model' | 'day'

/** What counts against limits: counted and estimated together. */
export type SpentSums = {
  tokens: number
  /** By currency. */
  costs: Record<string, number>
  /** Calls without a cost. */
  unpricedCalls: number
}

export type UsageSum = {
  /** Name of the task, session, agent, provider, namespace or model, or a day in UTC (`2026-01-31`); id of the caller, or its name where no id was recorded. */
  key: string
  /** Of caller sums, with the name it went by last: kind and id tell callers apart, names do not. */
  caller?: RecordedCaller
  /** Where the named thing is; absent for callers, who act in several. */
  namespace?: string
  /** Of task sums: a task made again under its name is another one. */
  taskUid?: string
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  llmCalls: number
  /** Absent: none of the calls has a price. */
  cost?: number
  currency?: string
  /** Those of the calls that have no price, where there are some; `cost` does not tell of them. */
  unpricedCalls?: number
  /** Present when there is something. */
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  estimatedCost?: number
}

/** `name`: only the groups with this key. `until` is exclusive. */
export type UsageQuery = { groupBy: UsageGroup; namespace?: string; name?: string; since?: Date; until?: Date }

export interface Usage {
  /**
   * Counts and money out of bounds are cut to them (1e12 tokens, 1e9 of a currency): sums cannot overflow. A record that
   * the store cannot take goes aside, with the reason, and holds back no other.
   */
  record(records: UsageRecord[]): Promise<void>
  /** Sums per group and currency, largest output first; records without the group's field are left out. */
  sum(query: UsageQuery): Promise<UsageSum[]>
  /** Exact sums of one task; money in the currency with the most output, where a task was paid in several. */
  ofTask(taskUid: string): Promise<Omit<UsageSum, 'key'> | undefined>
  /** What was used of a scope, by the time that the records bear; `until` is exclusive. */
  spent(scope: BudgetScope & { taskUid?: string }, time: { since?: Date; until?: Date }): Promise<SpentSums>
  sweep(before: Date): Promise<number>
}
