import { describe, expect, it } from 'vitest'
import { EndSubmit, endLimits, submitEnd } from './attempt-end.ts'

const wait = { kind: 'time', call: '1-a', what: 'tea', until: '2030-01-01T00:00:00.000Z' }

describe('the end of an attempt', () => {
  it('is said by the attempt alone', () => {
    expect(submitEnd.auth).toBe('worker')
  })

  it('has a reason that a run can have, what is waited for, and the rest of the log', () => {
    const failed = { ok: false, reason: 'RateLimited', message: 'the vendor answered 429', log: 'a\nb' }
    expect(EndSubmit.parse(failed)).toEqual(failed)
    expect(EndSubmit.safeParse({ ...failed, reason: 'OutOfMemory' }).success).toBe(false)
    expect(EndSubmit.safeParse({ ...failed, reason: 'Parked', waits: [] }).success).toBe(false)
    expect(EndSubmit.safeParse({ ...failed, reason: 'Parked', waits: [wait] }).success).toBe(true)
  })

  it('of one that is done has its result, if that was not submitted before, and nothing that it waits for', () => {
    const done = { ok: true, result: 'x'.repeat(endLimits.result), log: 'x'.repeat(endLimits.log) }
    expect(EndSubmit.parse({ ok: true })).toEqual({ ok: true })
    expect(EndSubmit.parse(done)).toEqual(done)
    for (const more of [{ result: '' }, { result: `${done.result}x` }, { log: `${done.log}x` }, { waits: [wait] }])
      expect(EndSubmit.safeParse({ ...done, ...more }).success).toBe(false)
    expect(EndSubmit.safeParse({ ok: true, reason: 'RateLimited' }).success).toBe(false)
  })
})
