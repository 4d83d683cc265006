// Limits of one caller in the proxies: concurrent requests and requests per minute.
import { SvcError } from '../errors.ts'

export type CallerLimitSettings = {
  /** Concurrent requests of one caller; 0: no limit. */
  maxConcurrent: number
  /** Requests of one caller per minute; 0: no limit. */
  requestsPerMinute: number
}

export interface CallerLimits {
  /** TooManyRequests with the time to wait; each success needs one `leave`. */
  enter(caller: string): void
  leave(caller: string): void
}

type Account = { running: number; level: number; refilledAt: number }

const minuteMs = 60_000
/** With this many known callers, those idle for a minute are forgotten. */
const maxAccounts = 10_000
const busyRetrySeconds = 1

export function createCallerLimits(settings: CallerLimitSettings, now: () => number): CallerLimits {
  const { maxConcurrent, requestsPerMinute } = settings
  const accounts = new Map<string, Account>()

  function forgetQuiet(): void {
    const before = now() - minuteMs
    for (const [caller, { running, refilledAt }] of accounts) {
      if (running === 0 && refilledAt < before) accounts.delete(caller)
    }
  }

  function open(caller: string): Account {
    if (accounts.size >= maxAccounts) forgetQuiet()
    const account = { running: 0, level: requestsPerMinute, refilledAt: now() }
    accounts.set(caller, account)
    return account
  }

  function takeRate(account: Account): void {
    const at = now()
    // A clock that was set back refills nothing.
    const elapsed = Math.max(0, at - account.refilledAt)
    account.level = Math.min(requestsPerMinute, account.level + (elapsed * requestsPerMinute) / minuteMs)
    account.refilledAt = at
    if (account.level < 1) {
      const retryAfterSeconds = Math.ceil(((1 - account.level) * 60) / requestsPerMinute)
      const message = `you may send at most ${requestsPerMinute} requests per minute; wait ${retryAfterSeconds} s`
      throw new SvcError('TooManyRequests', message, { retryAfterSeconds })
    }
    account.level -= 1
  }

  if (maxConcurrent === 0 && requestsPerMinute === 0) return { enter() {}, leave() {} }
  return {
    enter(caller) {
      const account = accounts.get(caller) ?? open(caller)
      if (maxConcurrent > 0 && account.running >= maxConcurrent) {
        const message = `you may have ${maxConcurrent} concurrent requests; wait until one has ended`
        throw new SvcError('TooManyRequests', message, { retryAfterSeconds: busyRetrySeconds })
      }
      if (requestsPerMinute > 0) takeRate(account)
      account.running += 1
    },
    leave(caller) {
      const account = accounts.get(caller)
      if (account === undefined) return
      account.running -= 1
      if (account.running === 0 && requestsPerMinute === 0) accounts.delete(caller)
    },
  }
}
