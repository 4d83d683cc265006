// Time, waiting, ids and randomness as injected values, so that tests control them.

/** The longest time in milliseconds that `setTimeout` can wait; it fires at once for a longer one. */
export const maxTimerMs = 2 ** 31 - 1

export interface Clock {
  /** The current moment. */
  now(): Date
  /**
   * Resolves after `ms` milliseconds; rejects with the signal's reason when aborted. Does not keep the process alive.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Ids {
  /** A fresh uuidv7 (HTTP-029); with a prefix: `mem-0192...`. */
  next(prefix?: string): string
  /** `length` random lower-case hex digits. */
  hex(length: number): string
  /** A number in [0, 1), for jitter. */
  random(): number
}
