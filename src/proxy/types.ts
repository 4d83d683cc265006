// Types shared by the edges, the fast path and the loop of both proxies.
import type { ModelChoice } from '../contract/api/tasks/assignment.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Spending } from '../llm/loop/loop.ts'
import type { Caller } from '../ports/identity/identity.ts'

/** The family whose language the caller speaks. */
export type ProxyFamily = 'llma' | 'llmo'

/** Who asks, and in which namespace. */
export type Asker = { caller: Caller; namespace: string }

/** One request that cannot be passed through: it needs the service's tools, or another family's language. */
export type ProxyCall = {
  family: ProxyFamily
  /** Which of the family's languages the caller speaks. */
  endpoint: ConversationEndpoint
  caller: Caller
  /** Where it acts: its providers and its tools. */
  namespace: string
  /** The caller's request, parsed; the model name is still the one that was requested. */
  body: JsonObject
  /** The request as received. */
  bodyText: string
  /** The caller's headers that go upstream (version, beta features), by lower-case name. */
  headers: Record<string, string>
  /** By preference, with their keys; `model` is the provider's own name of it. */
  models: [ModelChoice, ...ModelChoice[]]
  stream: boolean
  /** Whether the service's own tools are added; false: only translated. */
  serverTools: boolean
  /** Aborts when the client disconnects or the service stops. */
  signal: AbortSignal
  requestId: string
  /** From which the ids of its spans follow. */
  traceUid: string
  spending: Spending
}

/** Undefined: there is room for more. Otherwise resolves when there is. If it throws, the answer ends. */
export type WriteFrames = (frames: string) => Promise<void> | undefined

export type ProxyAnswer =
  | { status: number; headers: Record<string, string>; body: JsonObject }
  /**
   * Server-sent events: `send`, called once, writes them in wire form until the answer has ended, and rejects with the
   * error of `write`. `late` aborts when a client that does not read has used up its time.
   */
  | { status: number; headers: Record<string, string>; send(write: WriteFrames): Promise<void>; late: AbortSignal }

/** The operations of a provider's endpoint. */
export type Endpoint = 'messages' | 'count_tokens' | 'chat' | 'embeddings' | 'responses'

/** Those that a model answers, and in which it may call tools. */
export type ConversationEndpoint = Extract<Endpoint, 'messages' | 'chat' | 'responses'>

/** Where a request goes that names no provider. */
export type ProxyDefaults = {
  /** `--chat-provider`; empty: none. */
  provider: string
  /** `--chat-model`; empty: none. */
  model: string
}
