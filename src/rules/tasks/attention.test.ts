import { describe, expect, it } from 'vitest'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { awaitsSlot, compareStart, needsAttention, type StartRank } from './attention.ts'
import { cancelAnnotation } from './decision.ts'

function rank(name: string, change: Partial<StartRank> = {}): StartRank {
  return { priority: 500, createdAt: '2026-01-01T00:00:00Z', uid: `uid-${name}`, name, ...change }
}

function order(...ranks: StartRank[]): string[] {
  return ranks.toSorted(compareStart).map((entry) => entry.name)
}

describe('the order in which tasks start', () => {
  it('is priority, highest first, then age, then name [TASK-039]', () => {
    const young = rank('young', { createdAt: '2026-01-01T00:00:05Z' })
    const urgent = rank('urgent', { createdAt: '2026-01-01T00:00:09Z', priority: 900 })
    expect(order(young, rank('b'), rank('a'), urgent)).toEqual(['urgent', 'a', 'b', 'young'])
  })

  it('orders tasks of the same second by their time-ordered uids [TASK-039]', () => {
    const first = rank('z', { uid: '0192aaaa-0000-7000-8000-000000000001' })
    const second = rank('a', { uid: '0192aaab-0000-7000-8000-000000000000' })
    expect(order(second, first)).toEqual(['z', 'a'])
  })
})

function makeTask(status: object | undefined, metadata: object = {}, spec: object = {}): Task {
  return Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: {
      name: 't',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { type: 'ai', prompt: 'x', ...spec },
    status: status && { observedGeneration: 2, ...status },
  })
}

const unknown = { liveAttempt: undefined, queuedGeneration: undefined }

describe('needsAttention', () => {
  it('is false for changes that the controller itself made', () => {
    expect(needsAttention(makeTask({ phase: 'Running', attempts: 1 }), { ...unknown, liveAttempt: 1 })).toBe(false)
    expect(needsAttention(makeTask({ phase: 'Pending' }), { ...unknown, queuedGeneration: 2 })).toBe(false)
    expect(needsAttention(makeTask({ phase: 'Succeeded' }), unknown)).toBe(false)
  })

  it('is true for changes that the controller has not seen', () => {
    expect(needsAttention(makeTask(undefined), unknown)).toBe(true)
    expect(needsAttention(makeTask({ phase: 'Running', attempts: 2 }), { ...unknown, liveAttempt: 1 })).toBe(true)
    expect(
      needsAttention(makeTask({ phase: 'Pending', observedGeneration: 1 }), { ...unknown, queuedGeneration: 1 }),
    ).toBe(true)
    const cancelled = makeTask({ phase: 'Running', attempts: 1 }, { annotations: { [cancelAnnotation]: '' } })
    expect(needsAttention(cancelled, { ...unknown, liveAttempt: 1 })).toBe(true)
  })

  it('is true for deleted tasks while they carry the finalizer', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    const held = makeTask({ phase: 'Succeeded' }, { deletionTimestamp, finalizers: ['svc.ai/cleanup'] })
    expect(needsAttention(held, unknown)).toBe(true)
    expect(needsAttention(makeTask({ phase: 'Succeeded' }, { deletionTimestamp, finalizers: ['x'] }), unknown)).toBe(
      false,
    )
  })

  it('is true for an ended task whose callback is pending', () => {
    const status = { phase: 'Succeeded', webhook: { state: 'Pending', attempts: 0 } }
    expect(needsAttention(makeTask(status, {}, { webhookURL: 'https://example.com/' }), unknown)).toBe(true)
  })
})

describe('awaitsSlot', () => {
  it('is true for a task that waits only for its turn', () => {
    expect(awaitsSlot(makeTask(undefined))).toBe(true)
    expect(awaitsSlot(makeTask({ phase: 'Pending', queuedReason: 'NamespaceLimit' }))).toBe(true)
  })

  it.each<[string, object | undefined, object, object]>([
    ['waits for a session', { phase: 'Pending', queuedReason: 'SessionLocked' }, {}, {}],
    ['waits before a retry', { phase: 'Pending', nextRetryTime: '2026-01-01T00:00:00Z' }, {}, {}],
    ['runs', { phase: 'Running' }, {}, {}],
    ['is to be cancelled', { phase: 'Pending' }, { annotations: { [cancelAnnotation]: '' } }, {}],
    ['has a schedule', undefined, {}, { schedule: '@hourly' }],
  ])('is false for one that %s', (_what, status, metadata, spec) => {
    expect(awaitsSlot(makeTask(status, metadata, spec))).toBe(false)
  })
})
