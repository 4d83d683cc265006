import { expect, it } from 'vitest'
import { isInside, relativeInside } from './folder-path.ts'

it.each([
  ['/a/b', 'b'],
  ['/a/b/../c', 'c'],
  ['/a', ''],
  ['/a/', ''],
  ['/a/..cache/x', '..cache/x'],
])('finds %s in the folder', (path, inside) => {
  expect(relativeInside('/a', path)).toBe(inside)
  expect(isInside('/a', path)).toBe(true)
})

it.each(['/', '/b', '/ab', '/a/..', '/a/../b'])('finds %s outside the folder', (path) => {
  expect(relativeInside('/a', path)).toBeUndefined()
  expect(isInside('/a', path)).toBe(false)
})
