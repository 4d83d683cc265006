// Caches answers of the API server for a short time, asks once for concurrent callers, and has a fixed maximum size.
import type { Clock } from '../../lib/clock.ts'

export type AnswersOptions<T> = {
  clock: Clock
  /** The most entries in either half. */
  size: number
  ttlMs: (answer: T) => number
  /** Refusals are cached separately, so that a flood of bad tokens cannot push out a good one. */
  isRefusal: (answer: T) => boolean
}

export type Answers<T> = {
  /** The cached answer, or the result of `find`; failures are not cached. */
  ask(key: string, find: () => Promise<T>): Promise<T>
}

type Entry<T> = { answer: T; since: number }

export function createAnswers<T>({ clock, size, ttlMs, isRefusal }: AnswersOptions<T>): Answers<T> {
  const lanes = { passed: new Map<string, Entry<T>>(), refused: new Map<string, Entry<T>>() }
  const asking = new Map<string, Promise<T>>()

  function recall(key: string): Entry<T> | undefined {
    const entry = lanes.passed.get(key) ?? lanes.refused.get(key)
    // A clock that was set back extends nothing.
    if (entry && Math.abs(clock.now().getTime() - entry.since) < ttlMs(entry.answer)) return entry
    lanes.passed.delete(key)
    lanes.refused.delete(key)
    return undefined
  }

  function remember(key: string, entry: Entry<T>): void {
    const lane = isRefusal(entry.answer) ? lanes.refused : lanes.passed
    const oldest = lane.size >= size ? lane.keys().next().value : undefined
    if (oldest !== undefined) lane.delete(oldest)
    lane.set(key, entry)
  }

  async function find(key: string, bring: () => Promise<T>): Promise<T> {
    // The time before the request, so that an answer is never trusted for too long.
    const since = clock.now().getTime()
    try {
      const answer = await bring()
      remember(key, { answer, since })
      return answer
    } finally {
      asking.delete(key)
    }
  }

  return {
    async ask(key, bring) {
      const known = recall(key)
      if (known) return known.answer
      const running = asking.get(key) ?? find(key, bring)
      asking.set(key, running)
      return running
    },
  }
}
