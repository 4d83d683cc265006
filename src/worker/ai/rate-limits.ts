// The shared rate limits of providers and of the agent, requested over the worker API (PROV-009, PROV-010).

import type { Clock } from '../../lib/clock.ts'
import type { RouterDeps } from '../../llm/call/router.ts'
import type { WorkerApi } from '../api.ts'

/** The service knows the limits and keeps the buckets; it grants nothing for a provider in a cool-down. */
export function createRemoteRateLimits(api: WorkerApi, clock: Clock): RouterDeps['rateLimits'] {
  return {
    async take({ kind, ...key }, want) {
      const { granted, tokens, retryAfterMs } = await api.takeLease(key, { ...want, ...(kind && { kind }) })
      return granted ? { granted, tokens } : { granted, retryAfterMs }
    },
    async settle({ kind, ...key }, tokens) {
      if (tokens === 0) return
      await api.takeLease(key, { requests: 0, tokens: Math.ceil(tokens), ...(kind && { kind }) })
    },
    async coolDown(provider, { until, reason, ...pause }) {
      const seconds = Math.min(86_400, Math.max(0, (until.getTime() - clock.now().getTime()) / 1000))
      await api.coolDown(provider, { ...pause, seconds, reason: reason.slice(0, 1024) })
    },
    async coolingDown(provider, model) {
      const { coolingDown } = await api.askLimit(provider, model)
      if (coolingDown === undefined) return undefined
      const { forMs, ...pause } = coolingDown
      return { ...pause, until: new Date(clock.now().getTime() + forMs) }
    },
  }
}
