import { describe, expect, it } from 'vitest'
import { findStall, noteWork, type Stall, watchLoop } from './loop-watch.ts'

describe('what held the loop', () => {
  it('is the work after which nothing else began for longest', () => {
    const marks = [
      { kind: 'reconcile', route: 'tasks', at: 50 },
      { kind: 'request', route: '/api/v1/tasks', size: 12, at: 110 },
      { kind: 'request', route: '/api/v1/memories', size: 200_000, at: 120 },
      { kind: 'request', route: '/healthz', at: 900 },
    ]
    const stall = { kind: 'request', route: '/api/v1/memories', size: 200_000, ms: 780 }
    expect(findStall(marks, 100, 905)).toEqual(stall)
  })

  it('is what went on from before, or unknown where nothing is known', () => {
    expect(findStall([{ kind: 'reconcile', route: 'tasks', at: 50 }], 100, 900)).toMatchObject({ kind: 'reconcile' })
    expect(findStall([], 100, 900)).toEqual({ kind: 'unknown', ms: 800 })
  })
})

describe('the watch', () => {
  it('logs and counts only what held the loop longer than half a second', () => {
    // Later than any work of other tests, which the list of the process has as well.
    const begin = 1e9
    let now = begin
    const logged: unknown[] = []
    const stalls: Stall[] = []
    const log = { warn: (fields: unknown) => void logged.push(fields) } as never
    const watch = watchLoop({ log, count: (stall) => stalls.push(stall), now: () => now })
    now = begin + 400
    watch.look()
    expect(stalls).toEqual([])
    noteWork({ kind: 'request', route: '/api/v1/tasks', size: 7 }, begin + 410)
    now = begin + 1200
    watch.look()
    watch.stop()
    expect(stalls).toEqual([{ kind: 'request', route: '/api/v1/tasks', size: 7, ms: 790 }])
    expect(logged).toEqual([{ kind: 'request', route: '/api/v1/tasks', size: 7, ms: 790 }])
  })
})
