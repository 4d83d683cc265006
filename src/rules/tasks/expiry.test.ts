import { describe, expect, it } from 'vitest'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { timeToExpiry, timeToRemoval } from './expiry.ts'

const now = new Date('2026-03-01T12:00:00Z')
const ended = { phase: 'Succeeded', completionTime: '2026-03-01T11:59:00Z' }
const make = (spec: object, status: object = ended) =>
  ({ metadata: { creationTimestamp: '2026-03-01T11:00:00Z' }, spec, status }) as Task

describe('a task that has ended', () => {
  it.each([
    [undefined, {}, undefined],
    [240_000, {}, 300_000],
    [0, {}, 1000],
    [40_000, { ttlSecondsAfterFinished: 100 }, undefined],
    [40_000, { ttlSecondsAfterFinished: 100 }, 5],
    [0, { ttlSecondsAfterFinished: 0 }, undefined],
  ])('is removed in %s ms with %j, others after %s ms', (left, spec, usualMs) => {
    expect(timeToRemoval(make(spec), now, usualMs)).toBe(left)
  })

  it('stays while its callback is pending, and until it has ended', () => {
    const spec = { ttlSecondsAfterFinished: 0, webhookURL: 'https://a.example' }
    expect(timeToRemoval(make(spec, { ...ended, webhook: { state: 'Pending', attempts: 1 } }), now)).toBeUndefined()
    expect(timeToRemoval(make(spec, { ...ended, webhook: { state: 'Failed', attempts: 9 } }), now)).toBe(0)
    expect(timeToRemoval(make(spec, { phase: 'Running' }), now, 0)).toBeUndefined()
  })

  it('expires by its creation time when its end was not recorded', () => {
    expect(timeToRemoval(make({}, { phase: 'Failed' }), now, 3_700_000)).toBe(100_000)
  })
})

describe('an agent that nobody uses', () => {
  const createdAt = new Date('2026-01-01T00:00:00Z')
  const now = new Date('2026-01-01T01:00:00Z')

  it('stays without ttl, with ttl 0 and with active tasks', () => {
    expect(timeToExpiry({ createdAt, activeTasks: 0 }, now)).toBeUndefined()
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '0' }, now)).toBeUndefined()
    expect(timeToExpiry({ createdAt, activeTasks: 1, ttlAfterLastTask: '1m' }, now)).toBeUndefined()
  })

  it('expires by its creation time, or by its last use when there was one', () => {
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '2h' }, now)).toBe(3_600_000)
    const lastUsed = new Date('2026-01-01T00:50:00Z')
    expect(timeToExpiry({ createdAt, lastUsed, activeTasks: 0, ttlAfterLastTask: '30m' }, now)).toBe(1_200_000)
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '30m' }, now)).toBe(0)
  })
})
