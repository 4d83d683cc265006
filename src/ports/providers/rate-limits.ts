// Token buckets of providers and agents, and cool-downs of providers, shared by all replicas and workers (PROV-009,
// PROV-010).
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import type { ResourceKey } from '../resources/resources.ts'

export type RateLimit = { requestsPerMinute?: number; tokensPerMinute?: number }

/** The owner of the buckets: a provider, or an agent for all its model calls. */
export type Limited = ResourceKey & { kind?: 'Agent' }

export type Lease =
  /** `tokens`: how many were taken, for `settle`. */
  { granted: true; tokens: number } | { granted: false; retryAfterMs: number }

/** A cool-down of a provider or of one of its models. */
export type CoolDown = {
  /** Absent: every model of the provider. */
  model?: string
  until: Date
  /** The vendor's words. */
  reason: string
  /** The same in the words shown to those who wait. */
  failure: CallFailure
  /**
   * True when the vendor named the time: nothing is sent until then. Otherwise other providers are preferred, but a
   * call without an alternative may try.
   */
  asked: boolean
}

export interface RateLimits {
  /**
   * Takes from the buckets of a provider or agent, all or nothing. Buckets refill continuously and hold one minute's
   * worth: a request for more tokens than that gets one minute's worth, once the bucket is full.
   */
  take(whose: Limited, want: { requests: number; tokens: number }, limit: RateLimit): Promise<Lease>
  /** Corrects the tokens of a lease: the actual number minus those taken (may be negative). */
  settle(whose: Limited, tokens: number, limit: RateLimit): Promise<void>
  /** Records a cool-down for everyone who shares the provider; of two for the same model the later end wins. */
  coolDown(provider: ResourceKey, coolDown: CoolDown): Promise<void>
  /** The cool-down of the model that ends last; without a model, of the whole provider. */
  coolingDown(provider: ResourceKey, model?: string): Promise<CoolDown | undefined>
  /** The same from memory, for callers that cannot wait: this process's own at once, those of others within seconds. */
  peekCoolDown(provider: ResourceKey, model: string): CoolDown | undefined
  /**
   * Calls back with the provider whose cool-down was set or extended; returns the unsubscribe function. It need not
   * report what another replica sets, so poll as well.
   */
  onCoolDown(listener: (provider: ResourceKey) => void): () => void
  /** Removes full buckets that nothing was taken from since and that are not cooling down; returns how many. */
  sweep(before: Date): Promise<number>
}
