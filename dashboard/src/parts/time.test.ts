import { describe, expect, it } from 'vitest'
import { describeAgo, describeRunning } from './time.tsx'

const now = Date.parse('2026-03-01T12:00:00Z')

describe('a time', () => {
  it.each([
    [0, 'just now'],
    [-9000, 'just now'],
    [-12_000, '12 s ago'],
    [-3_700_000, '1 h 1 min ago'],
    // Of a clock that goes a little before this one.
    [2000, 'just now'],
    [90_000, 'in 1 min'],
  ])('%d ms from now: %s', (ms, words) => {
    expect(describeAgo(now + ms, now)).toBe(words)
  })

  it.each([
    [-500, '0 s'],
    [400, '0 s'],
    [59_900, '59 s'],
    [187_000, '3 min 7 s'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms of running: %s', (ms, words) => {
    expect(describeRunning(ms)).toBe(words)
  })
})
