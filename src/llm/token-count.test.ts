import { expect, it } from 'vitest'
import { readCount, readNestedCount } from './token-count.ts'

it.each([0, 7, 1e12])('%d is a count', (value) => {
  expect(readCount(value)).toBe(value)
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e13, '7', null, undefined, {}, [7]])('%j is none', (value) => {
  expect(readCount(value)).toBeUndefined()
})

it.each([
  [{ cached: 3 }, 3],
  [{ cached: -3 }, undefined],
  [null, undefined],
  ['x', undefined],
  [undefined, undefined],
])('in %j there is %j', (value, count) => {
  expect(readNestedCount(value, 'cached')).toBe(count)
})
