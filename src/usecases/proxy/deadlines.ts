// One clock for all requests under way: each has the same time, so that the oldest is always the next to run out (LIM-017).
import type { Clock } from '../../ports/clock.ts'

export interface Deadlines {
  add(onLate: () => void): void
  remove(onLate: () => void): void
  close(): void
}

const checkMs = 1000

export function createDeadlines(maxMs: number, clock: Clock): Deadlines {
  const running = new Map<() => void, number>()
  const closing = new AbortController()
  let isWatching = false

  function expire(): void {
    const before = performance.now() - maxMs
    for (const [onLate, since] of running) {
      if (since > before) return
      running.delete(onLate)
      onLate()
    }
  }

  async function watch(): Promise<void> {
    while (running.size > 0) {
      await clock.sleep(Math.min(checkMs, maxMs), closing.signal)
      expire()
    }
  }

  return {
    add(onLate) {
      running.set(onLate, performance.now())
      if (isWatching) return
      isWatching = true
      watch()
        .catch(() => {})
        .finally(() => {
          isWatching = false
        })
    },
    remove: (onLate) => void running.delete(onLate),
    close: () => closing.abort(),
  }
}
