// How long a worker waits for its service, and how often it looks: the service, its database or the network between may be away
// for minutes, in which nothing of the run is lost.
import { type ErrorReason, isSvcError } from '../errors.ts'
import { type Backoff, delayMs } from '../lib/backoff.ts'

const minuteMs = 60_000

/** How long a call is repeated, in milliseconds, by what keeps it from being accepted. */
const graceMs: Partial<Record<ErrorReason, number>> = {
  Unavailable: 10 * minuteMs,
  UpstreamFailed: 10 * minuteMs,
  StorageFull: 10 * minuteMs,
  Overloaded: 10 * minuteMs,
  TooManyRequests: 10 * minuteMs,
  // More likely a fault of the program than something that passes.
  Internal: minuteMs,
}

/** All workers notice at the same time that the service is away, so a half of each pause is random. */
const backoff: Backoff = { firstMs: 1000, maxMs: 15_000 }
const maxPauseMs = minuteMs

/** The service, or what it stands on, is away: it has not said anything about the attempt. */
export function isAway(error: unknown): boolean {
  return isSvcError(error) && graceMs[error.reason] !== undefined
}

export type Tries = {
  /** Failures in a row. */
  failures: number
  /** Since the first of them began, in milliseconds. */
  passedMs: number
  /** In [0, 1). */
  random: number
}

/** How long to wait before the call is repeated, in milliseconds; undefined: it is given up. */
export function pauseAfter(error: unknown, { failures, passedMs, random }: Tries): number | undefined {
  if (!isSvcError(error) || passedMs >= (graceMs[error.reason] ?? 0)) return undefined
  const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000
  return Math.min(retryAfterMs + delayMs(backoff, failures, random), maxPauseMs)
}
