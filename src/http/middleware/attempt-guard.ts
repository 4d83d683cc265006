// Stands before every check of a credential: refuses who failed too often, and logs failures without the credential.
import { isSvcError, messageOf } from '../../errors.ts'
import type { Logger } from '../../observability/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { createFailedAttempts } from './failed-attempts.ts'

/** Where an attempt comes from; every request of the framework is one. */
export type AttemptSource = { ip: string; id: string; socket: object; routeOptions: { url?: string | undefined } }

/** Runs the check of a credential. TooManyRequests, or what the check throws. */
export type AttemptGuard = <T>(request: AttemptSource, token: string, check: () => Promise<T>) => Promise<T>

export type AttemptGuardOptions = {
  /** Failures per address and minute; 0: no limit. */
  limit: number
  clock: Clock
  log: Logger
}

/** A bad credential, or a good one of somebody who may not come in. A dependency that is away is nobody's failure. */
function isFailure(error: unknown): boolean {
  return isSvcError(error, 'Unauthenticated') || isSvcError(error, 'Forbidden')
}

/** What was wrong with the token, for the operator alone; the answer says nothing of it. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause ?? error)
}

export function createAttemptGuard({ limit, clock, log }: AttemptGuardOptions): AttemptGuard {
  const attempts = createFailedAttempts(limit, clock)
  return async (request, token, check) => {
    const attempt = { address: request.ip, credential: token, connection: request.socket }
    attempts.check(attempt)
    try {
      const identity = await check()
      attempts.succeed(attempt)
      return identity
    } catch (error) {
      if (isFailure(error)) {
        const where = { requestId: request.id, address: request.ip, route: request.routeOptions.url }
        log.warn({ ...where, why: describeCause(error) }, 'authentication failed')
        if (attempts.fail(request.ip)) log.warn(where, 'too many failed authentications: this address gets 429 for now')
      }
      throw error
    }
  }
}
