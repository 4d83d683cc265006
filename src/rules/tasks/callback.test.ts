import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { callbackDelayMs, makeCallbackBody, signCallback } from './callback.ts'

const task = Task.parse({
  apiVersion: 'core.svc.ai/v1alpha1',
  kind: 'Task',
  metadata: {
    name: 'report',
    namespace: 'team',
    uid: 'u-1',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { type: 'ai', prompt: 'x' },
  status: { phase: 'Failed', attempts: 2, message: 'why', completionTime: '2026-01-01T00:01:00.000Z' },
})

describe('completion callbacks', () => {
  it('say how the task ended', () => {
    expect(JSON.parse(makeCallbackBody(task))).toEqual({
      taskName: 'report',
      taskNamespace: 'team',
      taskUid: 'u-1',
      phase: 'Failed',
      message: 'why',
      completionTime: '2026-01-01T00:01:00.000Z',
      attempts: 2,
    })
  })

  it('are signed over the bytes that are sent', () => {
    const body = makeCallbackBody(task)
    const expected = createHmac('sha256', 'key').update(Buffer.from(body)).digest('hex')
    expect(signCallback(body, 'key')).toBe(`sha256=${expected}`)
    expect(signCallback(body, 'other')).not.toBe(`sha256=${expected}`)
  })

  it('back off from five seconds to an hour, never at once', () => {
    expect(callbackDelayMs(1, 0)).toBe(2500)
    expect([1, 2, 3].map((tries) => callbackDelayMs(tries, 1))).toEqual([5000, 10_000, 20_000])
    expect(callbackDelayMs(99, 1)).toBe(3_600_000)
  })
})
