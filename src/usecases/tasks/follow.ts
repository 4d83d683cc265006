// Follows what a task writes (log lines, events) until the task has ended and everything is read.
import type { Clock } from '../../ports/clock.ts'

export type Followed<T> = {
  /** What was written after the given number, in order. */
  read(afterSeq: number): AsyncIterable<T> | Iterable<T> | Promise<Iterable<T>>
  /** Calls back when there may be more to read; returns the unsubscribe function. */
  subscribe(listener: () => void): () => void
  /** Whether nothing more will be written. */
  isOver(): Promise<boolean>
  afterSeq: number
  clock: Clock
  signal: AbortSignal
}

// A task can end without writing a line, so its resource is also checked, at growing intervals.
const shortestPauseMs = 20
const longestPauseMs = 1000

/** Resolves at once when `wake` was called since the last wait, otherwise at the next call or after the pause. */
function createAlarm(clock: Clock, signal: AbortSignal) {
  let isRung = false
  let ring = () => {}
  return {
    wake() {
      isRung = true
      ring()
    },
    /** True when woken, false after the full pause. */
    async wait(ms: number): Promise<boolean> {
      if (!isRung) {
        const pause = new AbortController()
        const woken = new Promise<void>((resolve) => {
          ring = resolve
        })
        const slept = clock.sleep(ms, AbortSignal.any([signal, pause.signal])).catch(() => {})
        await Promise.race([woken, slept])
        pause.abort()
      }
      const wasRung = isRung
      isRung = false
      return wasRung
    },
  }
}

/** Yields existing and new entries, each once, in order; ends with the task or the signal. */
export async function* follow<T extends { seq: number }>(followed: Followed<T>): AsyncGenerator<T> {
  const { clock, signal } = followed
  const alarm = createAlarm(clock, signal)
  const unsubscribe = followed.subscribe(alarm.wake)
  let last = followed.afterSeq
  let pauseMs = shortestPauseMs
  try {
    while (!signal.aborted) {
      // Checked before reading, so that everything written before the end is read too.
      const isOver = await followed.isOver()
      for await (const item of await followed.read(last)) {
        last = item.seq
        yield item
      }
      if (isOver) return
      pauseMs = (await alarm.wait(pauseMs)) ? shortestPauseMs : Math.min(pauseMs * 2, longestPauseMs)
    }
  } finally {
    unsubscribe()
  }
}
