// A language model as the loop sees it: takes a request, and reports the answer as it arrives.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { EstimatedUsage } from '../messages/estimate.ts'
import type { ModelEvent, ModelRequest, TokenUsage } from '../messages/messages.ts'
import type { Cost } from '../messages/token-usage.ts'

/** One call that reached a provider, for the usage records. */
export type ServedCall = {
  provider: ResourceKey
  model: string
  /** As the vendor counted. */
  usage: TokenUsage
  /** What it did not count: the call broke off, or it says nothing of tokens. */
  estimated?: EstimatedUsage
  /** Absent when the provider has no price. */
  cost?: Cost
  estimatedCost?: Cost
  /** Served by the demo provider: no language model (PROV-014). */
  demo: boolean
  /** There is no whole answer, only tokens that were counted or estimated. */
  brokeOff?: true
}

export type Listener = {
  /** Aborting it ends the call. */
  signal: AbortSignal
  /**
   * Receives the events of each read of the answer together, in order, at least one. A promise pauses the vendor until
   * it resolves. If it throws, the call ends and rejects with that.
   */
  take(events: ModelEvent[]): void | undefined | Promise<void>
  /**
   * Told of what was used, once for each provider that began to work: also where it failed, or the call was aborted.
   */
  spend(call: ServedCall): void
}

export interface ModelClient {
  /**
   * One call, from the request to its last event; resolves when that is delivered and the call is settled. It does not
   * reject, and does not hang after an abort: every error, including the abort, is the last event.
   */
  call(request: ModelRequest, listener: Listener): Promise<void>
}
