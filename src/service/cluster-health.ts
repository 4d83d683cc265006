// Whether what a replica knows of the cluster is good enough to serve from.
import { SvcError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { HealthCheck } from '../ports/index.ts'

/**
 * Reads go on from memory while the API server is away, for callers who are remembered (60 s). A replica that is cut off
 * for longer can let nobody in and knows old things only: another may be better off.
 */
const patienceMs = 120_000

type HealthParts = { listStale(): readonly string[]; clock: Clock }

export function createClusterHealth({ listStale, clock }: HealthParts): HealthCheck {
  let staleSince: number | undefined
  return {
    name: 'cluster',
    async check() {
      const kinds = listStale()
      const now = clock.now().getTime()
      staleSince = kinds.length === 0 ? undefined : (staleSince ?? now)
      if (staleSince === undefined || now - staleSince < patienceMs) return
      throw new SvcError('Unavailable', `what is known of ${kinds.join(', ')} may be old`)
    },
  }
}
