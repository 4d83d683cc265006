// Follows what a task writes (log lines, events) until the task has ended and everything was read.
import type { Clock } from '../../ports/clock.ts'

export type Followed<T> = {
  /** What was written after the number, in order. */
  read(afterSeq: number): AsyncIterable<T> | Iterable<T> | Promise<Iterable<T>>
  /** Calls back when there may be more to read; returns the unsubscribe function. */
  subscribe(listener: () => void): () => void
  /** Whether nothing will be written any more. */
  isOver(): Promise<boolean>
  afterSeq: number
  clock: Clock
  signal: AbortSignal
}

// The end of a task is a change of its resource, which may come without a line being written; looked for at rising intervals.
const shortestPauseMs = 20
const longestPauseMs = 1000

/** Resolves at once when `wake` was called since the last wait, else on the next call or after the pause. */
function createAlarm(clock: Clock, signal: AbortSignal) {
  let isRung = false
  let ring = () => {}
  return {
    wake() {
      isRung = true
      ring()
    },
    /** True when it was woken, false when the pause is over. */
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

/** Yields what there is and what comes, each once, in order; ends with the task or the signal. */
export async function* follow<T extends { seq: number }>(followed: Followed<T>): AsyncGenerator<T> {
  const { clock, signal } = followed
  const alarm = createAlarm(clock, signal)
  const unsubscribe = followed.subscribe(alarm.wake)
  let last = followed.afterSeq
  let pauseMs = shortestPauseMs
  try {
    while (!signal.aborted) {
      // Asked before reading: whatever was written before the end is then read too.
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
