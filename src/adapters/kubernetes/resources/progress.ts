// Waits until the watch has told of something, for those who wrote it or were given its version by another replica.
import type { Clock } from '../../../ports/clock.ts'

export type Progress = {
  /** The watch has told something: whoever waits looks again. */
  check(): void
  /** Resolves when the condition holds, when the signal aborts, or when it takes too long. */
  wait(isReached: () => boolean, signal?: AbortSignal): Promise<void>
}

/** As long as the API server itself waits for a version that is still to come. */
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
