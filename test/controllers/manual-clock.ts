// A clock that a test moves by hand: nothing that waits for time goes on before it is told to.
import type { Clock } from '../../src/ports/clock.ts'

export type ManualClock = Clock & {
  /** Moves the time on and ends the sleeps that are over by then. */
  advance(ms: number): void
  sleepers(): number
}

type Sleeper = { at: number; resolve: () => void }

export function createManualClock(start = '2026-03-01T12:00:00.000Z'): ManualClock {
  let time = Date.parse(start)
  const sleepers = new Set<Sleeper>()

  function wake(): void {
    for (const sleeper of sleepers) {
      if (sleeper.at > time) continue
      sleepers.delete(sleeper)
      sleeper.resolve()
    }
  }

  return {
    now: () => new Date(time),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason)
          return
        }
        const sleeper = { at: time + ms, resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          if (sleepers.delete(sleeper)) reject(signal.reason)
        })
        if (ms <= 0) queueMicrotask(wake)
      }),
    advance(ms) {
      time += ms
      wake()
    },
    sleepers: () => sleepers.size,
  }
}
