// Whether a failed attempt is followed by another, and when.
import { type FailureReason, failures, type RunFailure } from '../../contract/kinds/tasks/failures.ts'
import type { RetryPolicy } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'

/** How many new attempts after interruptions cost no retry (TASK-043). */
export const maxInterruptions = 3

const maxRetryDelayMs = 300_000
const defaultInitialDelayMs = 10_000
const defaultMultiplier = 2

/** How an attempt of a task failed. */
export type AttemptFailure = {
  reason: FailureReason
  /** The reason that the worker itself gave, if any. */
  cause?: RunFailure
  message: string
}

/** The reason that decides: the more specific one. */
export function reasonOf({ cause, reason }: AttemptFailure): FailureReason {
  return cause ?? reason
}

/**
 * `parkings`: attempts that ended because their task was parked; `sharedLosses`: because a process did that they shared.
 */
export type RetryCounts = { attempts: number; interruptions: number; parkings?: number; sharedLosses?: number }

/** Runs that count against the retry policy. */
export function countRuns({ attempts, interruptions, parkings = 0, sharedLosses = 0 }: RetryCounts): number {
  return attempts - interruptions - parkings - sharedLosses
}

/** Whether the policy allows another run: the first one plus `maxRetries`. */
export function mayRetry(policy: RetryPolicy | undefined, counts: RetryCounts, failure: AttemptFailure): boolean {
  if (failures[reasonOf(failure)].class === 'final') return false
  return countRuns(counts) <= (policy?.maxRetries ?? 0)
}

/** How the delays before the retries of a task grow. */
export function backoffOf(policy: RetryPolicy | undefined): Backoff {
  const initial = tryParseDuration(policy?.initialDelay ?? '') ?? defaultInitialDelayMs
  const multiplier = policy?.backoffMultiplier ?? defaultMultiplier
  return { firstMs: initial, maxMs: maxRetryDelayMs, factor: multiplier, jitter: 'full' }
}

/** Delay before the next run with full jitter; `random` is in [0, 1). */
export function retryDelayMs(policy: RetryPolicy | undefined, counts: RetryCounts, random: number): number {
  return delayMs(backoffOf(policy), Math.max(1, countRuns(counts)), random)
}
