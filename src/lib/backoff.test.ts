import { describe, expect, it } from 'vitest'
import { type Backoff, delayMs, maxDelayMs } from './backoff.ts'

const backoff: Backoff = { firstMs: 100, maxMs: 1000 }
const failures = [0, 1, 2, 3, 4, 5, 6, 99, 5000]

describe('the longest delay', () => {
  it('doubles with each failure up to its limit', () => {
    expect(failures.map((count) => maxDelayMs(backoff, count))).toEqual([0, 100, 200, 400, 800, 1000, 1000, 1000, 1000])
  })

  it('grows by another factor where one is given', () => {
    expect([1, 2, 3, 4].map((count) => maxDelayMs({ ...backoff, factor: 3 }, count))).toEqual([100, 300, 900, 1000])
    expect([1, 2, 3].map((count) => maxDelayMs({ ...backoff, factor: 1 }, count))).toEqual([100, 100, 100])
  })

  it('is none where the first is none, however often something has failed', () => {
    expect(maxDelayMs({ firstMs: 0, maxMs: 1000 }, 5000)).toBe(0)
  })

  it('does not exceed a limit below the first delay', () => {
    expect(maxDelayMs({ firstMs: 100, maxMs: 10 }, 1)).toBe(10)
  })
})

describe('the delay', () => {
  it('lies in the upper half of the longest, by default', () => {
    expect([0, 0.5, 1].map((random) => delayMs(backoff, 2, random))).toEqual([100, 150, 200])
  })

  it('lies anywhere below the longest with full jitter', () => {
    expect([0, 0.5, 1].map((random) => delayMs({ ...backoff, jitter: 'full' }, 2, random))).toEqual([0, 100, 200])
  })

  it('is none before the first failure', () => {
    expect(delayMs(backoff, 0, 0.9)).toBe(0)
  })

  it('is a whole number of milliseconds', () => {
    expect(delayMs({ ...backoff, firstMs: 33 }, 1, 0.3333)).toBe(22)
  })
})
