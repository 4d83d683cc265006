// Whether a replica's knowledge of the cluster is recent enough to serve requests from.
import { SvcError } from '../errors.ts'
import { type Clock, monotonicMs } from '../lib/clock.ts'
import type { HealthCheck } from '../ports/index.ts'

/**
 * While the API server is away, callers who are remembered (60 s) are still served from memory. A replica that is cut off
 * for longer can authenticate nobody and only has old data, so another replica may serve better.
 */
const graceMs = 120_000

type HealthParts = { listStale(): readonly string[]; clock: Clock }

export function createClusterHealth({ listStale, clock }: HealthParts): HealthCheck {
  let staleSince: number | undefined
  return {
    name: 'cluster',
    async check() {
      const kinds = listStale()
      const now = monotonicMs(clock)
      staleSince = kinds.length === 0 ? undefined : (staleSince ?? now)
      if (staleSince === undefined || now - staleSince < graceMs) return
      throw new SvcError('Unavailable', `what is known of ${kinds.join(', ')} may be old`)
    },
  }
}
