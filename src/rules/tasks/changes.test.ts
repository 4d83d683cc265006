import { describe, expect, it } from 'vitest'
import { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { actsForAnother, findFixedChanges, listChangedFields } from './changes.ts'

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

describe('the changes to a spec', () => {
  it('are listed by field, ignoring defaults that are newer than the stored task', () => {
    const { retryPolicy: _, suspend: __, ...stored } = makeTask({}).spec
    const old = { ...makeTask({}), spec: stored as TaskSpec }
    expect(changed(old, { suspend: false })).toEqual([])
    expect(changed(old, { timeout: '5s', env: [] })).toEqual(['env', 'timeout'])
  })

  it('do not include what the service stamps', () => {
    expect(changed(makeTask({ requestedBy: { subject: 'a' } }), {})).toEqual([])
  })
})

describe('the fields that can no longer change', () => {
  it.each([
    ['nothing', {}],
    ['nothing', { phase: 'Pending' }],
    ['nothing', { phase: 'Scheduled' }],
    ['prompt', { phase: 'Running', attempts: 1 }],
    ['prompt', { phase: 'Pending', attempts: 1 }],
    ['prompt', { phase: 'Cancelled' }],
  ])('are %s with status %j', (what, status) => {
    const fixed = findFixedChanges(makeTask({}, status), ['prompt', 'ttlSecondsAfterFinished'])
    expect(fixed).toEqual(what === 'nothing' ? [] : ['prompt'])
  })
})

it('suspend can change until the task has ended', () => {
  const fixed = (status: object) => findFixedChanges(makeTask({}, status), ['suspend'])
  expect(fixed({ phase: 'Running', attempts: 1 })).toEqual([])
  expect(fixed({ phase: 'Pending', attempts: 1 })).toEqual([])
  expect(fixed({ phase: 'Failed', attempts: 1 })).toEqual(['suspend'])
})

describe('a task that acts for a person', () => {
  const task = makeTask({ requestedBy: { subject: 'ann', issuer: 'https://id' } })

  it('can have its prompt changed by that person only', () => {
    expect(actsForAnother(task, ['prompt'], { subject: 'ann', issuer: 'https://id' })).toBe(false)
    expect(actsForAnother(task, ['prompt'], { subject: 'bob', issuer: 'https://id' })).toBe(true)
    expect(actsForAnother(task, ['prompt'], { subject: 'ann', issuer: 'https://other' })).toBe(true)
    expect(actsForAnother(task, ['prompt'], undefined)).toBe(true)
  })

  it('can be suspended by others, and a task that acts for nobody can be changed by them', () => {
    expect(actsForAnother(task, ['suspend', 'priority'], undefined)).toBe(false)
    expect(actsForAnother(makeTask({}), ['prompt'], undefined)).toBe(false)
  })
})
