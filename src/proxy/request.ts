// One request of a caller on its way, its outcome, and what is reported when it has ended.

import type { TokenUsage } from '../llm/messages/messages.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { PipeControl } from '../ports/service/egress.ts'
import { callerKey, identifyCaller } from '../rules/identity/caller-identity.ts'
import type { ReplyWriter } from './relay/passthrough.ts'
import type { Endpoint, ProxyAnswer, ProxyFamily } from './types.ts'

export type ProxyRequest = {
  endpoint: Endpoint
  caller: Caller
  namespace: string
  body: Buffer
  /** The caller's query, without parameters for the service. */
  query: string
  /** Headers for the upstream; names and values alternate. */
  headers: string[]
  /** False: `X-Svc-Tools: disabled`. */
  serverTools: boolean
  requestId: string
  /** `performance.now()` at its arrival. */
  arrivedAt: number
}

export type Outcome = 'ok' | 'failed' | 'aborted'

/** What became of a request. */
export type ProxyPlan =
  | { passage(writer: ReplyWriter): PipeControl }
  | { answer(signal: AbortSignal): Promise<ProxyAnswer>; done(outcome: Outcome): void }

/** One request that ended; contains no text of users. */
export type ProxySample = {
  family: ProxyFamily
  /** Type of the provider. */
  provider: string
  /** As the provider was asked for it; used in traces, not in metrics. */
  model: string
  requestId: string
  /** From the arrival of the request to its end. */
  totalMs: number
  endpoint: Endpoint
  mode: 'passthrough' | 'loop'
  outcome: Outcome
  /** From the arrival of the request until it is sent: the service's own share of the waiting time. */
  addedMs?: number
  /** From the arrival of the request to the first byte of the answer. */
  firstByteMs?: number
  usage?: TokenUsage
}

/** Who the request is charged to. */
export function accountOf(caller: Caller): string {
  return callerKey(identifyCaller(caller))
}

export function wantsTools({ serverTools, caller }: ProxyRequest, target: { serverTools: boolean }): boolean {
  return serverTools && caller.serverTools && target.serverTools
}
