// Shared token buckets and cool-downs of providers, over all replicas and workers (PROV-009, PROV-010).
import type { ResourceKey } from './resources.ts'

export type RateLimit = { requestsPerMinute?: number; tokensPerMinute?: number }

export type Lease = { granted: true } | { granted: false; retryAfterMs: number }

export interface RateLimits {
  /**
   * Takes from the provider's buckets, all or nothing; grants nothing while the provider cools down. Buckets refill
   * continuously and hold one minute's worth; a call that wants more than that is let through once they are full.
   */
  take(provider: ResourceKey, want: { requests: number; tokens: number }, limit: RateLimit): Promise<Lease>
  /** Corrects the tokens taken once the true number is known (may be negative). */
  settle(provider: ResourceKey, tokens: number, limit: RateLimit): Promise<void>
  /** Nothing is sent to the provider until then; a later moment wins. */
  coolDown(provider: ResourceKey, until: Date, reason: string): Promise<void>
  /** Until when, and why, or undefined. */
  coolingDown(provider: ResourceKey): Promise<{ until: Date; reason: string } | undefined>
}
