// A language model as the loop sees it: a request in, an answer told as it comes.
import type { ResourceKey } from '../ports/resources.ts'
import type { EstimatedUsage } from './estimate.ts'
import type { ModelEvent, ModelRequest, TokenUsage } from './messages.ts'
import type { Cost } from './token-usage.ts'

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
  /** Its abort ends the call. */
  signal: AbortSignal
  /**
   * Gets the events of each read of the answer together, in order, never none. A promise holds the vendor back until it
   * resolves. What it throws is for who made the call, and ends it.
   */
  take(events: ModelEvent[]): void | undefined | Promise<void>
  /** Told of what was used, once for each provider that began to work: also where it failed, or the call was aborted. */
  spend(call: ServedCall): void
}

export interface ModelClient {
  /**
   * One call, from the request to its last event; resolves when that is taken and all of the call is settled. It does not
   * reject, and does not hang after an abort: what goes wrong, the abort included, is the last event.
   */
  call(request: ModelRequest, listener: Listener): Promise<void>
}
