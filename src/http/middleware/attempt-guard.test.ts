import { describe, expect, it } from 'vitest'
import { isSvcError } from '../../errors.ts'
import { createFailedAttempts } from './attempt-guard.ts'

function makeBench(limit = 3) {
  let now = Date.parse('2026-03-01T12:00:00Z')
  const attempts = createFailedAttempts(limit, { now: () => new Date(now), sleep: () => Promise.resolve() })
  let tried = 0
  const fail = (address: string, credential = `bad ${++tried}`) =>
    attempts.fail({ address, credential, connection: {} })
  const failOften = (address: string, times = limit) => {
    for (let index = 0; index < times; index++) fail(address)
  }
  const retryAfter = (address: string, credential = 'new', connection = {}): number | undefined => {
    try {
      attempts.check({ address, credential, connection })
      return undefined
    } catch (error) {
      if (isSvcError(error, 'TooManyRequests')) return error.retryAfterSeconds
      throw error
    }
  }
  return { attempts, fail, failOften, retryAfter, advance: (ms: number) => (now += ms) }
}

describe('failed attempts', () => {
  it('give 429 from the limit on, until the minute is over', () => {
    const { failOften, retryAfter, advance } = makeBench()
    failOften('10.0.0.1', 2)
    expect(retryAfter('10.0.0.1')).toBeUndefined()
    failOften('10.0.0.1', 1)
    advance(15_000)
    expect(retryAfter('10.0.0.1')).toBe(45)
    advance(44_999)
    expect(retryAfter('10.0.0.1')).toBe(1)
    advance(1)
    expect(retryAfter('10.0.0.1')).toBeUndefined()
  })

  it('of one address do not block another, but those of one IPv6 network count together', () => {
    const { failOften, retryAfter } = makeBench()
    failOften('10.0.0.1')
    expect(retryAfter('10.0.0.2')).toBeUndefined()
    expect(retryAfter('::ffff:10.0.0.1')).toBeGreaterThan(0)
    failOften('2001:db8:0:1::1')
    expect(retryAfter('2001:db8:0:1:ffff::9')).toBeGreaterThan(0)
    expect(retryAfter('2001:0db8:0:1:1:2:3:4')).toBeGreaterThan(0)
    expect(retryAfter('2001:db8:0:2::1')).toBeUndefined()
  })

  it('do not block a credential that was good before', () => {
    const { attempts, failOften, retryAfter } = makeBench()
    attempts.succeed({ credential: 'laptop', connection: {} })
    failOften('10.0.0.1')
    expect(retryAfter('10.0.0.1', 'laptop')).toBeUndefined()
    expect(retryAfter('10.0.0.1', 'laptop2')).toBeGreaterThan(0)
  })

  it('do not block a connection whose credential was good, whoever else connected since', () => {
    const { attempts, failOften, retryAfter } = makeBench()
    const connection = {}
    attempts.succeed({ credential: 'laptop', connection })
    for (let index = 0; index < 2000; index++) attempts.succeed({ credential: `other ${index}`, connection: {} })
    failOften('10.0.0.1')
    expect(retryAfter('10.0.0.1', 'laptop', connection)).toBeUndefined()
    expect(retryAfter('10.0.0.1', 'laptop2', connection)).toBeGreaterThan(0)
    expect(retryAfter('10.0.0.1', 'laptop')).toBeGreaterThan(0)
  })

  it('report once that an address is blocked', () => {
    const { fail } = makeBench()
    expect([1, 2, 3, 4].map(() => fail('10.0.0.1'))).toEqual([false, false, true, false])
  })

  it('are dropped for the longest quiet address when too many are kept', () => {
    const { failOften, retryAfter, fail } = makeBench(1)
    failOften('10.0.0.1')
    for (let index = 0; index < 10_000; index++) fail(`11.0.${index >> 8}.${index & 255}`)
    expect(retryAfter('10.0.0.1')).toBeUndefined()
    expect(retryAfter('11.0.39.15')).toBeGreaterThan(0)
  })

  it('with one credential block that credential from every address, and no other credential', () => {
    const { fail, retryAfter, advance } = makeBench()
    for (const address of ['10.0.0.1', '10.0.0.1', '10.0.0.2']) {
      expect(retryAfter(address, 'stale')).toBeUndefined()
      fail(address, 'stale')
    }
    expect(retryAfter('10.0.0.3', 'stale')).toBe(60)
    expect(retryAfter('10.0.0.1', 'another')).toBeUndefined()
    advance(60_000)
    expect(retryAfter('10.0.0.1', 'stale')).toBeUndefined()
  })

  it('of a credential that was good before end its exemption', () => {
    const { attempts, fail, failOften, retryAfter } = makeBench()
    const connection = {}
    attempts.succeed({ credential: 'revoked', connection })
    attempts.fail({ address: '10.0.0.9', credential: 'revoked', connection })
    failOften('10.0.0.1')
    expect(retryAfter('10.0.0.1', 'revoked', connection)).toBeGreaterThan(0)
    attempts.succeed({ credential: 'revoked', connection })
    fail('10.0.0.9', 'other')
    expect(retryAfter('10.0.0.1', 'revoked', connection)).toBeUndefined()
  })

  it('are not counted when the limit is 0', () => {
    const { failOften, retryAfter } = makeBench(0)
    failOften('10.0.0.1', 1000)
    expect(retryAfter('10.0.0.1')).toBeUndefined()
  })
})
