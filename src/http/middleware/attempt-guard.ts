// Runs before every check of a credential: refuses addresses that failed too often, and logs failures without the
// credential.
import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import type { Logger } from '../../observability/log.ts'
import { unmap } from '../client-address.ts'

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

const windowMs = 60_000
const maxAddresses = 10_000
const maxBad = 10_000
const maxGood = 2_000

export type FailedAttempts = {
  /**
   * TooManyRequests when too many credentials from the address, or this credential from anywhere, have failed recently,
   * unless it was valid a while ago.
   */
  check(attempt: SignInAttempt): void
  /** Records a failure; true when the address has used up its attempts. */
  fail(attempt: SignInAttempt): boolean
  succeed(attempt: Pick<SignInAttempt, 'credential' | 'connection'>): void
}

export type SignInAttempt = {
  address: string
  credential: string
  /** The connection it came on, which may repeat the same credential many times. */
  connection: object
}

type Count = { failures: number; since: number }

/** Whoever has one IPv6 address has all 2^64 of its network. */
function groupOf(address: string): string {
  const plain = unmap(address)
  return isIPv6(plain) ? expand(plain).slice(0, 4).join(':') : plain
}

function expand(address: string): string[] {
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0)) }, () => '0')
  return [...(before ?? []), ...zeros, ...(after ?? [])].map((group) => group.replace(/^0+(?=.)/, ''))
}

type Counts = {
  /** How often the key has failed in the last minute. */
  of(key: string): Count | undefined
  add(key: string): number
  forget(key: string): void
}

function createCounts(max: number, clock: Clock): Counts {
  const now = () => monotonicMs(clock)
  const counts = new BoundedMap<string, Count>({ max, age: { maxMs: windowMs, now } })
  return {
    of: (key) => counts.get(key),
    add(key) {
      const count = counts.get(key) ?? { failures: 0, since: now() }
      count.failures += 1
      counts.set(key, count, count.since)
      return count.failures
    },
    forget: (key) => void counts.delete(key),
  }
}

const tooMany = {
  address: 'too many failed authentications from this address: try again later',
  credential: 'this credential has failed too often: use another one, or try again later',
}

/** `limit` 0: no limit. */
export function createFailedAttempts(limit: number, clock: Clock): FailedAttempts {
  const addresses = createCounts(maxAddresses, clock)
  // By hash. A program that repeats the same bad credential is not guessing: its address is charged once.
  const bad = createCounts(maxBad, clock)
  // Valid credentials by hash, so that one bad program behind an address does not lock out the others there.
  const good = new BoundedMap<string, true>({ max: maxGood })
  const lastGood = new WeakMap<object, string>()
  const digest = (credential: string) => hash('sha256', credential, 'base64')

  function refuseBeyond(count: Count | undefined, message: string): void {
    if (count === undefined || count.failures < limit) return
    const retryAfterSeconds = Math.ceil((count.since + windowMs - monotonicMs(clock)) / 1000)
    throw new SvcError('TooManyRequests', message, { retryAfterSeconds })
  }

  return {
    check({ address, credential, connection }) {
      if (limit === 0 || lastGood.get(connection) === credential) return
      const key = digest(credential)
      if (good.has(key)) return
      refuseBeyond(bad.of(key), tooMany.credential)
      refuseBeyond(addresses.of(groupOf(address)), tooMany.address)
    },
    fail({ address, credential, connection }) {
      if (limit === 0) return false
      const key = digest(credential)
      good.delete(key)
      lastGood.delete(connection)
      return bad.add(key) === 1 && addresses.add(groupOf(address)) === limit
    },
    succeed({ credential, connection }) {
      if (limit === 0 || lastGood.get(connection) === credential) return
      lastGood.set(connection, credential)
      const key = digest(credential)
      bad.forget(key)
      good.set(key, true)
    },
  }
}
