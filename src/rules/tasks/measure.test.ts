import { describe, expect, it } from 'vitest'
import type { Task, TaskStatus } from '../../contract/kinds/tasks/task.ts'
import { measureChange } from './measure.ts'

const created = '2026-03-01T12:00:00Z'
const task = (status?: TaskStatus) =>
  ({ metadata: { creationTimestamp: created }, spec: { type: 'ai' }, ...(status && { status }) }) as Task
const at = (seconds: number) => new Date(Date.parse(created) + seconds * 1000).toISOString()
const running = (attempts: number, more: TaskStatus = {}): TaskStatus => ({
  phase: 'Running',
  attempts,
  startTime: at(10),
  ...more,
})

describe('a change of a task', () => {
  it('reports the wait at the first start only', () => {
    expect(measureChange(task({ phase: 'Pending' }), running(1))).toEqual({
      type: 'ai',
      retries: 0,
      phase: 'Running',
      waitedSeconds: 10,
    })
    expect(measureChange(task(running(1)), running(1, { message: 'goes on' }))).toEqual({ type: 'ai', retries: 0 })
    expect(measureChange(task({ phase: 'Pending', attempts: 1 }), running(2))).toHaveProperty(
      'waitedSeconds',
      undefined,
    )
  })

  it('reports no wait for a start within the second of the creation', () => {
    const started = { ...running(1), startTime: new Date(Date.parse(created) - 1).toISOString() }
    expect(measureChange(task(), started).waitedSeconds).toBe(0)
  })

  it('counts an attempt after a failure as a retry, but not one after an interruption', () => {
    expect(measureChange(task({ phase: 'Pending', attempts: 1 }), running(2)).retries).toBe(1)
    expect(
      measureChange(task({ phase: 'Pending', attempts: 1, interruptions: 1 }), running(2, { interruptions: 1 }))
        .retries,
    ).toBe(0)
  })

  it('counts the first attempt of a further iteration as no retry, and its own retries anew', () => {
    const second = { iteration: 1, earlierIterations: { attempts: 2, interruptions: 0, parkings: 0, sharedLosses: 0 } }
    const between: TaskStatus = { phase: 'Pending', attempts: 2, ...second }
    expect(measureChange(task(running(2)), between).retries).toBe(0)
    expect(measureChange(task(between), running(3, second)).retries).toBe(0)
    expect(measureChange(task({ ...between, attempts: 3 }), running(4, second)).retries).toBe(1)
  })

  it('reports the running time at the end, and none for a task that never started', () => {
    const done: TaskStatus = { ...running(1), phase: 'Succeeded', completionTime: at(12.5) }
    expect(measureChange(task(running(1)), done)).toEqual({
      type: 'ai',
      retries: 0,
      phase: 'Succeeded',
      ranSeconds: 2.5,
    })
    expect(measureChange(task({ phase: 'Pending' }), { phase: 'Cancelled', completionTime: at(3) })).toEqual({
      type: 'ai',
      retries: 0,
      phase: 'Cancelled',
    })
  })
})
