import { expect, it } from 'vitest'
import { namedEvery, ticksUpTo } from './chart-scale.ts'

it.each([
  [0, true, [0, 1]],
  [1, true, [0, 1]],
  [3, true, [0, 1, 2, 3]],
  [10, true, [0, 5, 10]],
  [87, true, [0, 50, 100]],
  [100_000, true, [0, 50_000, 100_000]],
  [2, false, [0, 0.5, 1, 1.5, 2]],
])('lines up to %d (wholes: %j) are at %j', (highest, isOfWholes, ticks) => {
  expect(ticksUpTo(highest, isOfWholes)).toEqual(ticks)
})

it('lines of parts of a cent reach over the highest bar, and are few', () => {
  const ticks = ticksUpTo(0.00037, false)
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(0.00037)
  expect(ticks.length).toBeLessThanOrEqual(6)
})

it('names seven bars at most', () => {
  expect([1, 7, 14, 31, 365].map((bars) => Math.ceil(bars / namedEvery(bars)))).toEqual([1, 7, 7, 7, 7])
})
