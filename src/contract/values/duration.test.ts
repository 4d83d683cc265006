import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Duration, formatDuration, PositiveDuration, parseDuration, tryParseDuration } from './duration.ts'

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['100ms', 100],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['0', 0],
    ['0s', 0],
    ['+5m', 300_000],
  ])('reads %s as %d milliseconds', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '30', '-5s', 's', '1d', '1h 30m', '5S', '1e3s', ' 5s', '9999999h'])('refuses %j', (text) => {
    expect(tryParseDuration(text)).toBeUndefined()
    expect(() => parseDuration(text)).toThrow('is not a duration')
    expect(Duration.safeParse(text).success).toBe(false)
  })

  it.each([
    [0, '0s'],
    [5_400_000, '1h30m'],
    [1500, '1.5s'],
    [250, '250ms'],
    [0.5, '500us'],
    [0.000_001, '1ns'],
    [3_600_000, '1h'],
    [60_000, '1m'],
  ])('writes %d milliseconds as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('reads back whatever it wrote', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 3)
      }),
    )
  })

  it('has no spelling for what is not a span', () => {
    expect(() => formatDuration(-1)).toThrow(RangeError)
    expect(() => formatDuration(Number.NaN)).toThrow(RangeError)
  })

  it('distinguishes zero from more than zero where a limit is meant', () => {
    expect(Duration.safeParse('0s').success).toBe(true)
    expect(PositiveDuration.safeParse('0s').error?.issues[0]?.message).toBe('must be longer than zero')
    expect(PositiveDuration.parse('1ns')).toBe('1ns')
  })
})
