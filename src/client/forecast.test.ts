import { describe, expect, it } from 'vitest'
import { forecastMonth, forecastSince } from './forecast.ts'

const days = (from: number, to: number, cost: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ day: `2026-04-${String(from + at).padStart(2, '0')}`, cost }))

describe('the forecast of a month', () => {
  it('goes on as the last seven days were', () => {
    const now = new Date('2026-04-16T00:00:00Z')
    // Six whole days and none of today's hours cost 2 each.
    expect(forecastMonth(days(1, 15, 2), now)).toBeCloseTo(30 + 2 * 15, 9)
    expect(forecastMonth([...days(1, 9, 100), ...days(10, 15, 1)], now)).toBeCloseTo(906 + 15, 9)
    expect(forecastMonth([], now)).toBe(0)
  })

  it('of its first day looks at the end of the month before, which is no part of it', () => {
    const now = new Date('2026-05-01T00:00:00Z')
    expect(forecastSince(now).toISOString()).toBe('2026-04-24T00:00:00.000Z')
    expect(forecastMonth(days(25, 30, 3), now)).toBeCloseTo(3 * 31, 9)
  })
})
