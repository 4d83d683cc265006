// Shared token buckets of providers and agents and cool-downs of providers, over all replicas and workers (PROV-009, PROV-010).
import type { CallFailure } from '../contract/failures.ts'
import type { ResourceKey } from './resources.ts'

export type RateLimit = { requestsPerMinute?: number; tokensPerMinute?: number }

/** Whose buckets: a provider's, or those of an agent for all its model calls. */
export type Limited = ResourceKey & { kind?: 'Agent' }

export type Lease =
  /** `tokens`: how many were taken, for `settle`. */
  { granted: true; tokens: number } | { granted: false; retryAfterMs: number }

/** A pause of a provider or of one of its models. */
export type CoolDown = {
  /** Absent: all that the provider serves. */
  model?: string
  until: Date
  /** The vendor's words. */
  reason: string
  /** What it is told as to those who are kept waiting. */
  failure: CallFailure
  /** The vendor named the time: until then nothing is sent. Else others are preferred, and who has none may try. */
  asked: boolean
}

export interface RateLimits {
  /**
   * Takes from the buckets of a provider or agent, all or nothing. Buckets refill continuously and hold one minute's worth: who wants more tokens than that gets so many, once the bucket is full.
   */
  take(whose: Limited, want: { requests: number; tokens: number }, limit: RateLimit): Promise<Lease>
  /** Corrects the tokens taken by a lease: the true number less those taken (may be negative). */
  settle(whose: Limited, tokens: number, limit: RateLimit): Promise<void>
  /** Notes a pause, for everyone who shares the provider; of two for the same model the later end wins. */
  coolDown(provider: ResourceKey, coolDown: CoolDown): Promise<void>
  /** The pause that ends last of those that hold for the model now; without a model: of all of the provider. */
  coolingDown(provider: ResourceKey, model?: string): Promise<CoolDown | undefined>
  /** The same from memory, for who cannot wait: what this process noted at once, what another did within seconds. */
  peekCoolDown(provider: ResourceKey, model: string): CoolDown | undefined
  /**
   * Calls back with the provider whose cool-down was set or made longer; returns the unsubscribe function. What another
   * replica sets need not be told: look now and then as well.
   */
  onCoolDown(listener: (provider: ResourceKey) => void): () => void
  /** Removes full buckets that nothing was taken from since, and that do not cool down; how many. */
  sweep(before: Date): Promise<number>
}
