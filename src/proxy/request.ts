// One request of a caller on its way, what becomes of it, and what is told when it has ended.

import type { TokenUsage } from '../llm/messages.ts'
import type { PipeControl } from '../ports/egress.ts'
import type { Caller } from '../ports/identity.ts'
import { callerKey, identifyCaller } from '../rules/caller-identity.ts'
import type { ReplyWriter } from './relay/passthrough.ts'
import type { Endpoint, ProxyAnswer, ProxyFamily } from './types.ts'

export type ProxyRequest = {
  endpoint: Endpoint
  caller: Caller
  namespace: string
  body: Buffer
  /** The caller's own query, without what was for the service. */
  query: string
  /** Headers for the upstream, names and values in turn. */
  headers: string[]
  /** False: `X-Svc-Tools: disabled`. */
  serverTools: boolean
  requestId: string
  /** `performance.now()` when it arrived. */
  arrivedAt: number
}

export type Outcome = 'ok' | 'failed' | 'aborted'

/** What a request has become. */
export type ProxyPlan =
  | { passage(writer: ReplyWriter): PipeControl }
  | { answer(signal: AbortSignal): Promise<ProxyAnswer>; done(outcome: Outcome): void }

/** One request that ended; no text of users in it. */
export type ProxySample = {
  family: ProxyFamily
  /** Type of the provider. */
  provider: string
  /** As the provider was asked for it; for traces, not for metrics. */
  model: string
  requestId: string
  /** From the arrival of the request to its end. */
  totalMs: number
  endpoint: Endpoint
  mode: 'passthrough' | 'loop'
  outcome: Outcome
  /** From the arrival of the request to its sending; the part of the wait that is the service's own. */
  addedMs?: number
  /** From the arrival of the request to the first byte of the answer. */
  firstByteMs?: number
  usage?: TokenUsage
}

/** Whose account a request counts on. */
export function accountOf(caller: Caller): string {
  return callerKey(identifyCaller(caller))
}

export function wantsTools({ serverTools, caller }: ProxyRequest, target: { serverTools: boolean }): boolean {
  return serverTools && caller.serverTools && target.serverTools
}
