import { describe, expect, it } from 'vitest'
import { createStopwatches } from './stopwatch.ts'

const hour = 3_600_000

describe('a stopwatch', () => {
  it.each([2 * hour, -2 * hour])('goes on where the clock jumps by %d ms', (jump) => {
    let wall = Date.parse('2026-03-01T12:00:00Z')
    let steady = 0
    const pass = (ms: number) => {
      wall += ms
      steady += ms
    }
    const watches = createStopwatches({ now: () => new Date(wall), monotonic: () => steady })
    const start = '2026-03-01T12:00:00Z'
    pass(1000)
    expect(watches.momentOf('a', start)).toEqual(new Date('2026-03-01T12:00:01Z'))
    wall += jump
    pass(4000)
    expect(watches.momentOf('a', start)).toEqual(new Date('2026-03-01T12:00:05Z'))
    const again = new Date(wall).toISOString()
    pass(1000)
    expect(watches.momentOf('a', again).getTime() - Date.parse(again)).toBe(1000)
  })

  it.each([2 * hour, -2 * hour])(
    'measures what ends at a stamp from the first look on, jumps by %d ms aside',
    (jump) => {
      let wall = Date.parse('2026-03-01T12:00:00Z')
      let steady = 0
      const watches = createStopwatches({ now: () => new Date(wall), monotonic: () => steady })
      expect(watches.momentSince('a')).toEqual(new Date('2026-03-01T12:00:00Z'))
      wall += jump
      steady += 4000
      expect(watches.momentSince('a')).toEqual(new Date('2026-03-01T12:00:04Z'))
      expect(watches.momentSince('b')).toEqual(new Date(wall))
    },
  )

  it('follows the wall clock where there is no other', () => {
    let wall = Date.parse('2026-03-01T12:00:00Z')
    const watches = createStopwatches({ now: () => new Date(wall) })
    watches.momentOf('a', '2026-03-01T12:00:00Z')
    wall += hour
    expect(watches.momentOf('a', '2026-03-01T12:00:00Z')).toEqual(new Date('2026-03-01T13:00:00Z'))
  })
})
