// Exponential backoff with jitter, as a pure function of how often something has failed.

export type Backoff = {
  /** The longest first delay. */
  firstMs: number
  /** The longest delay of all. */
  maxMs: number
  /** By how much each further failure lengthens the delay; default 2. */
  factor?: number
  /**
   * Which part of the longest delay is random: `half` (the default) never tries again at once, `full` spreads many callers the most
   * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
   */
  jitter?: 'half' | 'full'
}

/**
 * The longest delay in milliseconds after `failures` failures in a row; 0 after none. By itself it is only for what is decided anew,
 * from stored facts, each time that somebody looks: jitter would give another answer each time.
 */
export function maxDelayMs({ firstMs, maxMs, factor = 2 }: Backoff, failures: number): number {
  // Zero times infinity would be no number.
  return failures < 1 ? 0 : Math.min(maxMs, firstMs * Math.min(factor ** (failures - 1), Number.MAX_VALUE))
}

/** The delay in milliseconds after `failures` failures in a row; `random` is in [0, 1). */
export function delayMs(backoff: Backoff, failures: number, random: number): number {
  const fixed = backoff.jitter === 'full' ? 0 : 0.5
  return Math.round(maxDelayMs(backoff, failures) * (fixed + (1 - fixed) * random))
}
