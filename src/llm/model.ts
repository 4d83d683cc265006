// A language model as the loop sees it: a request in, an answer told as it comes.
import type { ModelEvent, ModelRequest } from './messages.ts'

export type Listener = {
  /** Its abort ends the call. */
  signal: AbortSignal
  /**
   * Gets the events of each read of the answer together, in order, never none. A promise holds the vendor back until it
   * resolves. What it throws is for who made the call, and ends it.
   */
  take(events: ModelEvent[]): void | undefined | Promise<void>
}

export interface ModelClient {
  /**
   * One call, from the request to its last event; resolves when that is taken and all of the call is settled. It does not
   * reject, and does not hang after an abort: what goes wrong, the abort included, is the last event.
   */
  call(request: ModelRequest, listener: Listener): Promise<void>
}
