// The shared rate limit of a provider, asked for over the worker API (PROV-009, PROV-010).
import type { Clock } from '../ports/clock.ts'
import type { RateLimits } from '../ports/rate-limits.ts'
import type { WorkerApi } from './api.ts'

/** The service knows the limits and keeps the buckets; a provider that cools down grants nothing there. */
export function createRemoteRateLimits(api: WorkerApi, clock: Clock): RateLimits {
  return {
    async take(provider, want) {
      const lease = await api.takeLease(provider, want)
      return lease.granted ? { granted: true } : { granted: false, retryAfterMs: lease.retryAfterMs }
    },
    async settle(provider, tokens) {
      // The worker API gives nothing back: an estimate that was too high stays taken until the bucket has refilled.
      if (tokens > 0) await api.takeLease(provider, { requests: 0, tokens: Math.ceil(tokens) })
    },
    async coolDown(provider, until, reason) {
      const seconds = Math.min(86_400, Math.max(0, (until.getTime() - clock.now().getTime()) / 1000))
      await api.coolDown(provider, seconds, reason.slice(0, 1024))
    },
    coolingDown: async () => undefined,
  }
}
