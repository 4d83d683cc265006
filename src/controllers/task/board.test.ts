import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareStart } from '../../rules/start-order.ts'
import { createBoard } from './board.ts'
import type { Candidate } from './lanes.ts'

function candidate(name: string, change: Partial<Candidate> & { priority?: number } = {}): Candidate {
  const { priority = 500, ...rest } = change
  const rank = { priority, createdAt: '2026-01-01T00:00:00Z', uid: `uid-${name}`, name }
  return { key: `default/${name}`, uid: `uid-${name}`, namespace: 'default', generation: 1, rank, ...rest }
}

function openBoard(options: { capacity?: number; limit?: number; namespaceLimit?: number } = {}) {
  const world = { capacity: options.capacity ?? 0, granted: [] as string[] }
  const board = createBoard({
    limit: options.limit ?? 0,
    capacity: () => world.capacity,
    namespaceLimit: options.namespaceLimit ?? 0,
    onGrant: (key) => void world.granted.push(key.split('/')[1] ?? ''),
  })
  return { board, world }
}

const runOf = ({ namespace, siblings, uid }: Candidate) => ({ namespace, siblings, uid, attempt: 1 })

describe('the board', () => {
  it('grants nothing before it is opened, then the first by rank', () => {
    const { board, world } = openBoard({ capacity: 1 })
    expect(board.offer(candidate('b'))).toBe(false)
    expect(board.offer(candidate('a', { priority: 900 }))).toBe(false)
    board.open()
    expect(world.granted).toEqual(['a'])
    expect(board.offer(candidate('a', { priority: 900 }))).toBe(true)
  })

  it('lets no more run than its limit where places have no end, and grants by priority then', () => {
    const { board, world } = openBoard({ capacity: Number.POSITIVE_INFINITY, limit: 2 })
    board.open()
    for (const name of ['a', 'b']) {
      expect(board.offer(candidate(name))).toBe(true)
      board.setStarting(`default/${name}`, runOf(candidate(name)))
      board.setStarted(`default/${name}`)
    }
    expect(board.offer(candidate('c', { priority: 100 }))).toBe(false)
    expect(board.offer(candidate('d', { priority: 900 }))).toBe(false)
    board.forget('default/a')
    expect(world.granted).toEqual(['d'])
  })

  it('tells the caller at once when it may start, and does not call back for it', () => {
    const { board, world } = openBoard({ capacity: 1 })
    board.open()
    expect(board.offer(candidate('a'))).toBe(true)
    expect(world.granted).toEqual([])
  })

  it('holds the place of a grant until the attempt has really started', () => {
    const { board, world } = openBoard({ capacity: 1 })
    board.open()
    const first = candidate('a')
    board.offer(first)
    board.offer(candidate('b'))
    board.setStarting(first.key, runOf(first))
    board.pump()
    expect(world.granted).toEqual([])
    board.setStarted(first.key)
    board.pump()
    expect(world.granted).toEqual(['b'])
  })

  it('passes a grant on when the task withdraws', () => {
    const { board, world } = openBoard({ capacity: 1 })
    board.open()
    board.offer(candidate('a'))
    board.offer(candidate('b'))
    board.forget('default/a')
    expect(world.granted).toEqual(['b'])
  })

  it('does not mistake a task for an earlier one of its name', () => {
    const { board } = openBoard({ capacity: 5 })
    board.open()
    board.adopt('default/a', { namespace: 'default', uid: 'new', attempt: 2 })
    board.forgetObject('default/a', 'old')
    expect(board.known('default/a', 'new').liveAttempt).toBe(2)
    expect(board.known('default/a', 'old').liveAttempt).toBeUndefined()
  })

  it('says which limit holds a task back [TASK-040]', () => {
    const { board } = openBoard({ capacity: 5, namespaceLimit: 2 })
    board.open()
    const child = candidate('c1', { siblings: 'default/p', siblingLimit: 1 })
    board.adopt(child.key, runOf(child))
    const second = candidate('c2', { siblings: 'default/p', siblingLimit: 1 })
    expect(board.offer(second)).toBe(false)
    expect(board.blockedBy(second)).toBe('SiblingLimit')
    expect(board.offer(candidate('other'))).toBe(true)
    expect(board.blockedBy(candidate('third'))).toBe('NamespaceLimit')
  })

  it('keeps order and limits with a hundred thousand waiting', () => {
    const { board, world } = openBoard({ capacity: 0, namespaceLimit: 10 })
    board.open()
    for (let index = 0; index < 100_000; index += 1) {
      board.offer(candidate(`t${index}`, { priority: index % 1000, namespace: `n${index % 7}` }))
    }
    world.capacity = 50
    board.pump()
    const priorities = world.granted.map((name) => Number(name.slice(1)) % 1000)
    expect(priorities).toHaveLength(50)
    expect(Math.min(...priorities)).toBe(999)
    for (let index = 0; index < 1000; index += 1) board.forget(`default/${world.granted.shift()}`)
    expect(world.granted).toHaveLength(50)
  })

  it('never exceeds capacity or limit and never grants a lower rank first, whatever the order of events', () => {
    const arrival = fc.record({
      priority: fc.integer({ min: 0, max: 5 }),
      namespace: fc.constantFrom('x', 'y'),
      end: fc.boolean(),
    })
    const settings = fc.record({
      capacity: fc.integer({ min: 1, max: 4 }),
      namespaceLimit: fc.integer({ min: 0, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 60 }), settings, (arrivals, limits) => {
        const seen = playArrivals(arrivals, limits)
        const most = limits.namespaceLimit === 0 ? limits.capacity : limits.namespaceLimit
        expect(seen.overtaken).toEqual([])
        expect(Math.max(0, ...seen.running)).toBeLessThanOrEqual(limits.capacity)
        expect(Math.max(0, ...seen.runningInX)).toBeLessThanOrEqual(most)
      }),
    )
  })
})

type Arrival = { priority: number; namespace: string; end: boolean }

/** Offers tasks one after the other and ends the oldest now and then; what was seen on the way. */
function playArrivals(arrivals: Arrival[], limits: { capacity: number; namespaceLimit: number }) {
  const running = new Map<string, Candidate>()
  const waiting = new Map<string, Candidate>()
  const seen = { overtaken: [] as string[], running: [] as number[], runningInX: [] as number[] }

  function isBefore(other: Candidate, started: Candidate): boolean {
    return other.namespace === started.namespace && compareStart(other.rank, started.rank) < 0
  }
  function start(key: string): void {
    const started = waiting.get(key)
    if (started === undefined) throw new Error(`${key} was granted without waiting`)
    waiting.delete(key)
    running.set(key, started)
    seen.overtaken.push(...[...waiting.values()].filter((other) => isBefore(other, started)).map((other) => other.key))
  }
  const board = createBoard({ limit: 0, ...limits, capacity: () => limits.capacity, onGrant: start })
  board.open()
  for (const [index, { priority, namespace, end }] of arrivals.entries()) {
    const next = candidate(`t${String(index).padStart(3, '0')}`, { priority, namespace })
    waiting.set(next.key, next)
    if (board.offer(next)) start(next.key)
    const [oldest] = running.keys()
    if (end && oldest !== undefined && running.delete(oldest)) board.forget(oldest)
    seen.running.push(running.size)
    seen.runningInX.push([...running.values()].filter((run) => run.namespace === 'x').length)
  }
  return seen
}
