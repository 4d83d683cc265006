// Follows what a task writes (log lines, events) until the task has ended and everything is read.
import { createAlarm } from '../../lib/alarm.ts'

export type Followed<T> = {
  /** What was written after the given number, in order. */
  read(afterSeq: number): AsyncIterable<T> | Iterable<T> | Promise<Iterable<T>>
  /** Calls back when there may be more to read, or it may be over; returns the unsubscribe function. */
  subscribe(listener: () => void): () => void
  /** Whether nothing more will be written. */
  isOver(): Promise<boolean>
  afterSeq: number
  signal: AbortSignal
}

/** Yields existing and new entries, each once, in order; ends with the task or the signal. */
export async function* follow<T extends { seq: number }>(followed: Followed<T>): AsyncGenerator<T> {
  const { signal } = followed
  const alarm = createAlarm(signal)
  const unsubscribe = followed.subscribe(alarm.wake)
  let last = followed.afterSeq
  try {
    while (!signal.aborted) {
      // Checked before reading, so that everything written before the end is read too.
      const isOver = await followed.isOver()
      for await (const item of await followed.read(last)) {
        last = item.seq
        yield item
      }
      if (isOver) return
      await alarm.wait()
    }
  } finally {
    unsubscribe()
  }
}
