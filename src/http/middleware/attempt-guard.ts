// Runs before every check of a credential: refuses addresses that failed too often, and logs failures without the
// credential.
import { isSvcError, messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../observability/log.ts'
import { createFailedAttempts } from './failed-attempts.ts'

/** Where an attempt to authenticate comes from. */
export type AttemptSource = {
  address: string
  requestId: string
  connection: object
  /** Pattern of the path. */
  route: string | undefined
}

export type TokenCheck<T> = {
  token: string
  /** Whether the service signed the token itself; cheap to check, and impossible to guess. */
  isOwn: () => boolean
  check: () => Promise<T>
}

/** Runs the check of a credential. TooManyRequests, or the error of the check. */
export type AttemptGuard = <T>(source: AttemptSource, attempt: TokenCheck<T>) => Promise<T>

export type AttemptGuardOptions = {
  /** Failures per address and minute; 0: no limit. */
  limit: number
  clock: Clock
  log: Logger
}

/**
 * A bad credential, or a valid one whose holder is not admitted. An unavailable dependency does not count as a failure.
 */
function isFailure(error: unknown): boolean {
  return isSvcError(error, 'Unauthenticated') || isSvcError(error, 'Forbidden')
}

/** What was wrong with the token, for the operator's log; the answer does not say. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause ?? error)
}

export function createAttemptGuard({ limit, clock, log }: AttemptGuardOptions): AttemptGuard {
  const attempts = createFailedAttempts(limit, clock)

  /** Tokens that the service issued to its own tasks are never delayed by others' failures. */
  function refuseTooMany(attempt: Parameters<typeof attempts.check>[0], isOwn: () => boolean): void {
    try {
      attempts.check(attempt)
    } catch (error) {
      if (!isOwn()) throw error
    }
  }

  return async ({ address, connection, requestId, route }, { token: credential, isOwn, check }) => {
    const attempt = { address, credential, connection }
    refuseTooMany(attempt, isOwn)
    try {
      const identity = await check()
      attempts.succeed(attempt)
      return identity
    } catch (error) {
      if (isFailure(error)) {
        const where = { requestId, address, route }
        log.warn({ ...where, why: describeCause(error) }, 'authentication failed')
        if (attempts.fail(attempt))
          log.warn(where, 'too many failed authentications: this address gets 429 for a while')
      }
      throw error
    }
  }
}
