import { describe, expect, it } from 'vitest'
import { timeToExpiry } from './agent-expiry.ts'

const createdAt = new Date('2026-01-01T00:00:00Z')
const now = new Date('2026-01-01T01:00:00Z')

describe('timeToExpiry', () => {
  it('is none for an agent without ttl, with ttl 0 or with active tasks', () => {
    expect(timeToExpiry({ createdAt, activeTasks: 0 }, now)).toBeUndefined()
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '0' }, now)).toBeUndefined()
    expect(timeToExpiry({ createdAt, activeTasks: 1, ttlAfterLastTask: '1m' }, now)).toBeUndefined()
  })

  it('counts from creation, or from the last use when there was one', () => {
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '2h' }, now)).toBe(3_600_000)
    const lastUsed = new Date('2026-01-01T00:50:00Z')
    expect(timeToExpiry({ createdAt, lastUsed, activeTasks: 0, ttlAfterLastTask: '30m' }, now)).toBe(1_200_000)
    expect(timeToExpiry({ createdAt, activeTasks: 0, ttlAfterLastTask: '30m' }, now)).toBe(0)
  })
})
