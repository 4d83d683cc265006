// Time, waiting, ids and randomness as injected values, so that tests control them.

/** The longest time in milliseconds that `setTimeout` can wait; it fires at once for a longer one. */
export const maxTimerMs = 2 ** 31 - 1

export interface Clock {
  /** The current moment, for schedules and stamps. It jumps when somebody sets the machine's clock. */
  now(): Date
  /** Milliseconds from any beginning, for durations: never set by anybody. Absent: `now` never jumps. */
  monotonic?(): number
  /**
   * Resolves after `ms` milliseconds; rejects with the signal's reason when aborted. Does not keep the process alive.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Milliseconds of which only differences mean something. */
export function monotonicMs(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  return clock.monotonic?.() ?? clock.now().getTime()
}

export interface Ids {
  /** A fresh uuidv7 (HTTP-029); with a prefix: `mem-0192...`. */
  next(prefix?: string): string
  /** `length` random lower-case hex digits. */
  hex(length: number): string
  /** A number in [0, 1), for jitter. */
  random(): number
}
