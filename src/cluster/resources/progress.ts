// Waits until the watch has reported something, for callers who wrote it or got its version from another replica.
import type { Clock } from '../../lib/clock.ts'

export type Progress = {
  /** The watch has reported something: waiting callers check again. */
  check(): void
  /** Resolves when the condition holds, when the signal aborts, or after too long. */
  wait(isReached: () => boolean, signal?: AbortSignal): Promise<void>
}

/** As long as the API server itself waits for a future version. */
const longestWaitMs = 3000

export function createProgress(clock: Clock): Progress {
  const waiting = new Set<{ isReached: () => boolean; resolve: () => void }>()

  async function expire(resolve: () => void, signal: AbortSignal): Promise<void> {
    await clock.sleep(longestWaitMs, signal).catch(() => undefined)
    resolve()
  }

  return {
    check() {
      for (const waiter of waiting) if (waiter.isReached()) waiter.resolve()
    },
    async wait(isReached, signal) {
      if (isReached()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { isReached, resolve }
      const done = new AbortController()
      waiting.add(waiter)
      void expire(resolve, signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]))
      await promise
      waiting.delete(waiter)
      done.abort()
    },
  }
}
