// What both proxies pass between their edges, the fast path and the loop.

import type { ModelChoice } from '../contract/api/assignment.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Spending } from '../llm/loop.ts'
import type { Caller } from '../ports/identity.ts'

/** Whose language the caller speaks. */
export type ProxyFamily = 'llma' | 'llmo'

/** One request that needs more than bytes passed on: tools of the service, or another family's language. */
export type ProxyCall = {
  family: ProxyFamily
  /** In which of the family's languages the caller speaks. */
  endpoint: Conversation
  caller: Caller
  /** Where it acts: its providers and its tools. */
  namespace: string
  /** The caller's request, parsed; the model name is still the one that was asked for. */
  body: JsonObject
  /** The same as it came. */
  bodyText: string
  /** Those of the caller's headers that go upstream (version, beta features), by lower-case name. */
  headers: Record<string, string>
  /** By preference, with their keys; `model` is the provider's own name for it. */
  models: [ModelChoice, ...ModelChoice[]]
  stream: boolean
  /** Whether the service's own tools are injected; false: only translated. */
  serverTools: boolean
  /** Aborts when the client is gone, or the service stops. */
  signal: AbortSignal
  requestId: string
  spending: Spending
}

/** Undefined: there is room for more; else resolves when there is. What it throws ends the answer. */
export type WriteFrames = (frames: string) => Promise<void> | undefined

export type ProxyAnswer =
  | { status: number; headers: Record<string, string>; body: JsonObject }
  /**
   * Server-sent events: `send`, called once, writes them ready for the wire until the answer has ended, and rejects with what
   * `write` throws. `late` aborts when a client that does not read has had its time.
   */
  | { status: number; headers: Record<string, string>; send(write: WriteFrames): Promise<void>; late: AbortSignal }

/** What is asked of a provider. */
export type Endpoint = 'messages' | 'count_tokens' | 'chat' | 'embeddings' | 'responses'

/** Those in which a model answers, and may call tools. */
export type Conversation = Extract<Endpoint, 'messages' | 'chat' | 'responses'>
