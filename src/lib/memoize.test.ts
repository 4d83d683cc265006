import { expect, it } from 'vitest'
import { memoizeByObject } from './memoize.ts'

it('computes a value once for each object, undefined included', () => {
  let calls = 0
  const length = memoizeByObject((list: unknown[]) => {
    calls += 1
    return list.length === 0 ? undefined : list.length
  })
  const [empty, full] = [[], [1, 2]]
  expect([length(empty), length(empty), length(full), length(full), length([1])]).toEqual([
    undefined,
    undefined,
    2,
    2,
    1,
  ])
  expect(calls).toBe(3)
})
