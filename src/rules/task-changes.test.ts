import { describe, expect, it } from 'vitest'
import { Task, TaskSpec } from '../contract/resources/task.ts'
import { actsForAnother, findFixedChanges, listChangedFields } from './task-changes.ts'

function makeTask(spec: object, status: object = {}): Task {
  const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
  return Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: { ...metadata, creationTimestamp: '2026-03-01T12:00:00Z' },
    spec: { type: 'ai', prompt: 'x', ...spec },
    status,
  })
}
const changed = (before: Task, spec: object) =>
  listChangedFields(before, TaskSpec.parse({ type: 'ai', prompt: 'x', ...spec }))

describe('what was changed', () => {
  it('is told by field, without defaults that were not there when the task was stored', () => {
    const { retryPolicy: _, suspend: __, ...stored } = makeTask({}).spec
    const old = { ...makeTask({}), spec: stored as TaskSpec }
    expect(changed(old, { suspend: false })).toEqual([])
    expect(changed(old, { timeout: '5s', env: [] })).toEqual(['env', 'timeout'])
  })

  it('leaves out what the service stamps', () => {
    expect(changed(makeTask({ requestedBy: { subject: 'a' } }), {})).toEqual([])
  })
})

describe('what is fixed', () => {
  it.each([
    ['nothing', {}],
    ['nothing', { phase: 'Pending' }],
    ['nothing', { phase: 'Scheduled' }],
    ['prompt', { phase: 'Running', attempts: 1 }],
    ['prompt', { phase: 'Pending', attempts: 1 }],
    ['prompt', { phase: 'Cancelled' }],
  ])('is %s with status %j', (what, status) => {
    const fixed = findFixedChanges(makeTask({}, status), ['prompt', 'ttlSecondsAfterFinished'])
    expect(fixed).toEqual(what === 'nothing' ? [] : ['prompt'])
  })
})

describe('a task that acts for somebody', () => {
  const task = makeTask({ requestedBy: { subject: 'ann', issuer: 'https://id' } })

  it('does what they asked for: nobody else changes that', () => {
    expect(actsForAnother(task, ['prompt'], { subject: 'ann', issuer: 'https://id' })).toBe(false)
    expect(actsForAnother(task, ['prompt'], { subject: 'bob', issuer: 'https://id' })).toBe(true)
    expect(actsForAnother(task, ['prompt'], { subject: 'ann', issuer: 'https://other' })).toBe(true)
    expect(actsForAnother(task, ['prompt'], undefined)).toBe(true)
  })

  it('can be suspended by others, and a task of nobody in particular be changed', () => {
    expect(actsForAnother(task, ['suspend', 'priority'], undefined)).toBe(false)
    expect(actsForAnother(makeTask({}), ['prompt'], undefined)).toBe(false)
  })
})
