import { expect, it } from 'vitest'
import { probeDelayMs } from './probe-pace.ts'

const pauses = (every?: string) => [1, 2, 3, 100].map((asked) => probeDelayMs(every, asked))

it('asks less and less often, up to every two minutes', () => {
  expect(pauses()).toEqual([10_000, 15_000, 22_500, 120_000])
  expect(pauses('30s')).toEqual([30_000, 45_000, 67_500, 120_000])
})

it('keeps to what is wanted within bounds', () => {
  expect(pauses('5m')).toEqual([300_000, 300_000, 300_000, 300_000])
  expect(probeDelayMs('1ms', 1)).toBe(5_000)
  expect(probeDelayMs('300h', 1)).toBe(600_000)
})
