// A language model as the loop sees it: a request in, a stream of neutral events out.
import type { ModelEvent, ModelRequest } from './messages.ts'

export interface ModelClient {
  /** Never throws and never hangs: what goes wrong, the caller's abort included, is the last event of the stream. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** All events of an answer at once, for who does not want them before its end. Absent: they come as a stream only. */
  answer?(request: ModelRequest, signal: AbortSignal): Promise<ModelEvent[]>
}
