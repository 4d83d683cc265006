import { expect, it } from 'vitest'
import { describeBytes } from './bytes.ts'

it.each([
  [0, '0 B'],
  [512, '512 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [3482, '3.4 KiB'],
  [1_048_575, '1 MiB'],
  [12_582_912, '12 MiB'],
  [2.5 * 1024 ** 3, '2.5 GiB'],
  [5000 * 1024 ** 4, '5000 TiB'],
])('says %i bytes as %s', (bytes, text) => {
  expect(describeBytes(bytes)).toBe(text)
})
