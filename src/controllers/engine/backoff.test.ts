import { describe, expect, it } from 'vitest'
import { createBackoff } from './backoff.ts'

describe('the backoff', () => {
  it('doubles its ceiling for each failure of a key up to its most', () => {
    const backoff = createBackoff({ ids: { random: () => 1 }, baseMs: 100, maxMs: 1000 })
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.next('a'))).toEqual([100, 200, 400, 800, 1000, 1000])
    expect(backoff.next('b')).toBe(100)
    backoff.reset('a')
    expect(backoff.next('a')).toBe(100)
  })

  it('is spread over the whole of its ceiling', () => {
    const draws = [0, 0.25, 0.5]
    const backoff = createBackoff({ ids: { random: () => draws.shift() ?? 0 }, baseMs: 100, maxMs: 1000 })
    expect([backoff.next('a'), backoff.next('a'), backoff.next('a')]).toEqual([0, 50, 200])
  })

  it('does not overflow after very many failures', () => {
    const backoff = createBackoff({ ids: { random: () => 1 }, maxMs: 60_000 })
    for (let index = 0; index < 5000; index += 1) backoff.next('a')
    expect(backoff.next('a')).toBe(60_000)
  })
})
