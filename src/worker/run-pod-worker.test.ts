import { describe, expect, it } from 'vitest'
import { beginTime } from './run-pod-worker.ts'

const now = new Date('2026-03-01T12:10:00Z')

describe('the time of a worker in a pod', () => {
  it('begins when the worker does, however long its pod waited for a node [TASK-041]', () => {
    const assignment = { api: {}, deadline: '2026-03-01T12:01:00.000Z', timeoutMs: 60_000 }
    expect(beginTime(assignment, now)).toEqual({ ...assignment, deadline: '2026-03-01T12:11:00.000Z' })
  })

  it('is not limited where the task has no timeout', () => {
    expect(beginTime({ api: {} }, now)).toEqual({ api: {} })
  })
})
