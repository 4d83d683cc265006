import { describe, expect, it } from 'vitest'
import { monotonicMs } from './clock.ts'
import { systemClock } from './system-clock.ts'

describe('the clock of the machine', () => {
  it('measures durations in whole milliseconds, which never go back', async () => {
    const seen: number[] = []
    for (let n = 0; n < 20; n += 1) {
      seen.push(monotonicMs(systemClock))
      await systemClock.sleep(1)
    }
    expect(seen.filter((ms) => !Number.isInteger(ms))).toEqual([])
    expect(seen.toSorted((one, other) => one - other)).toEqual(seen)
    expect(seen.at(-1)).toBeGreaterThan(seen[0] as number)
  })
})
