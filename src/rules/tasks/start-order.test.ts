import { describe, expect, it } from 'vitest'
import { compareStart, type StartRank } from './start-order.ts'

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
