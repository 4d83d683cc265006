// Alerts, with the state of their delivery to the webhook.
import type { Alert, AlertFacts } from '../../contract/api/budgets/alerts.ts'

export interface Alerts {
  /** Those that are new: the id of one that was raised before changes nothing, on any replica. `sends`: the webhook is to have them. */
  raise(alerts: readonly AlertFacts[], sends: boolean): Promise<AlertFacts[]>
  /** Newest first. */
  list(query: { since?: Date; limit: number }): Promise<Alert[]>
  /** Ids of those that nobody delivers although they are due. */
  due(limit: number): Promise<string[]>
  /** For one that is due: it is the worker's until the lease ends. Undefined when there is nothing to claim. */
  claim(id: string, lease: { worker: string; leaseMs: number }): Promise<Alert | undefined>
  extend(id: string, lease: { worker: string; leaseMs: number }): Promise<boolean>
  settle(id: string, worker: string, end: { delivery: 'delivered' | 'failed'; lastError?: string }): Promise<boolean>
  postpone(id: string, worker: string, again: { afterMs: number; lastError: string }): Promise<boolean>
  sweep(before: Date): Promise<number>
}
