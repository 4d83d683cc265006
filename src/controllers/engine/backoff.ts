// How often each key has failed in a row, and how long to wait after it.
import { delayMs } from '../../lib/backoff.ts'
import type { Ids } from '../../lib/clock.ts'

type Backoff = {
  /** The delay before the next try of the key, in milliseconds; grows with each failure. */
  next(key: string): number
  /** Forgets the key's failures. */
  reset(key: string): void
  failures(key: string): number
}

type BackoffOptions = {
  ids: Pick<Ids, 'random'>
  /** Upper bound of the first delay. */
  baseMs?: number
  /** Upper bound of every delay. */
  maxMs?: number
}

export function createBackoff({ ids, baseMs = 100, maxMs = 60_000 }: BackoffOptions): Backoff {
  const failures = new Map<string, number>()
  return {
    next(key) {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      return delayMs({ firstMs: baseMs, maxMs, jitter: 'full' }, count, ids.random())
    },
    reset: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
  }
}
