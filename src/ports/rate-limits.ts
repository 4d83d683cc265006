// Shared token buckets and cool-downs of providers, over all replicas and workers (PROV-009, PROV-010).
import type { ResourceKey } from './resources.ts'

export type RateLimit = { requestsPerMinute?: number; tokensPerMinute?: number }

export type Lease =
  /** `tokens`: how many were taken, for `settle`. */
  { granted: true; tokens: number } | { granted: false; retryAfterMs: number }

/** Until when nothing is sent to a provider, and the vendor's words for it. */
export type CoolDown = { until: Date; reason: string }

export interface RateLimits {
  /**
   * Takes from the provider's buckets, all or nothing; grants nothing while the provider cools down. Buckets refill
   * continuously and hold one minute's worth: who wants more tokens than that gets so many, once the bucket is full.
   */
  take(provider: ResourceKey, want: { requests: number; tokens: number }, limit: RateLimit): Promise<Lease>
  /** Corrects the tokens taken by a lease: the true number less those taken (may be negative). */
  settle(provider: ResourceKey, tokens: number, limit: RateLimit): Promise<void>
  /** Nothing is sent to the provider until then; a later moment wins. */
  coolDown(provider: ResourceKey, until: Date, reason: string): Promise<void>
  /** Until when, and why, or undefined. */
  coolingDown(provider: ResourceKey): Promise<CoolDown | undefined>
  /**
   * Calls back with the provider whose cool-down was set or made longer; returns the unsubscribe function. What another
   * replica sets need not be told: look now and then as well.
   */
  onCoolDown(listener: (provider: ResourceKey) => void): () => void
  /** Removes full buckets of providers that nothing was sent to since, and that do not cool down; how many. */
  sweep(before: Date): Promise<number>
}
