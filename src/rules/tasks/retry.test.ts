import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RetryPolicy } from '../../contract/kinds/tasks/task.ts'
import { maxDelayMs } from '../../lib/backoff.ts'
import { backoffOf, mayRetry, retryDelayMs } from './retry.ts'

const failure = { reason: 'ExitCode', message: 'x' } as const

describe('retries', () => {
  it('are none by default, and else maxRetries beyond the first run', () => {
    expect(mayRetry(undefined, { attempts: 1, interruptions: 0 }, failure)).toBe(false)
    const policy = RetryPolicy.parse({ maxRetries: 2 })
    const allowed = [1, 2, 3].map((attempts) => mayRetry(policy, { attempts, interruptions: 0 }, failure))
    expect(allowed).toEqual([true, true, false])
  })

  it.each(['DeadlineExceeded', 'NoSandbox', 'NoEngine', 'Validation', 'CreditUsedUp'] as const)(
    'are never made after %s',
    (reason) => {
      const policy = RetryPolicy.parse({ maxRetries: 9 })
      expect(mayRetry(policy, { attempts: 1, interruptions: 0 }, { ...failure, reason })).toBe(false)
    },
  )

  it('double their longest delay from 10 s up to five minutes [TASK-042]', () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7].map((retry) => maxDelayMs(backoffOf(undefined), retry) / 1000)
    expect(ceilings).toEqual([10, 20, 40, 80, 160, 300, 300])
  })

  it('honour initialDelay and backoffMultiplier', () => {
    const policy = RetryPolicy.parse({ maxRetries: 3, initialDelay: '1m', backoffMultiplier: 1 })
    expect([1, 2, 3].map((retry) => maxDelayMs(backoffOf(policy), retry))).toEqual([60_000, 60_000, 60_000])
  })

  it('wait a random time up to that delay: full jitter [TASK-042]', () => {
    expect(retryDelayMs(undefined, { attempts: 1, interruptions: 0 }, 0)).toBe(0)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 0.9999, noNaN: true }),
        (attempts, random) => {
          const delay = retryDelayMs(undefined, { attempts, interruptions: 0 }, random)
          expect(delay).toBeLessThanOrEqual(300_000)
          expect(delay).toBeCloseTo(maxDelayMs(backoffOf(undefined), attempts) * random, -1)
        },
      ),
    )
  })
})
