import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareStart } from '../../rules/tasks/attention.ts'
import { createScheduler, type WaitingTask } from './scheduler.ts'

function makeWaiting(name: string, change: Partial<WaitingTask> & { priority?: number } = {}): WaitingTask {
  const { priority = 500, ...rest } = change
  const rank = { priority, createdAt: '2026-01-01T00:00:00Z', uid: `uid-${name}`, name }
  return { key: `default/${name}`, uid: `uid-${name}`, namespace: 'default', generation: 1, rank, mode: 'own', ...rest }
}

function openScheduler(options: { capacity?: number; limit?: number; namespaceLimit?: number } = {}) {
  const world = { capacity: options.capacity ?? 0, granted: [] as string[] }
  const scheduler = createScheduler({
    limit: options.limit ?? 0,
    capacity: () => world.capacity,
    namespaceLimit: options.namespaceLimit ?? 0,
    onGrant: (key) => void world.granted.push(key.split('/')[1] ?? ''),
  })
  return { scheduler, world }
}

const runOf = ({ namespace, siblings, uid }: WaitingTask) => ({ namespace, siblings, uid, attempt: 1 })

describe('the scheduler', () => {
  it('grants nothing before it is opened, then the first by rank', () => {
    const { scheduler, world } = openScheduler({ capacity: 1 })
    expect(scheduler.offer(makeWaiting('b'))).toBe(false)
    expect(scheduler.offer(makeWaiting('a', { priority: 900 }))).toBe(false)
    scheduler.open()
    expect(world.granted).toEqual(['a'])
    expect(scheduler.offer(makeWaiting('a', { priority: 900 }))).toBe(true)
  })

  it('lets no more run than its limit where places have no end, and grants by priority then', () => {
    const { scheduler, world } = openScheduler({ capacity: Number.POSITIVE_INFINITY, limit: 2 })
    scheduler.open()
    for (const name of ['a', 'b']) {
      expect(scheduler.offer(makeWaiting(name))).toBe(true)
      scheduler.setStarting(`default/${name}`, runOf(makeWaiting(name)))
      scheduler.setStarted(`default/${name}`)
    }
    expect(scheduler.offer(makeWaiting('c', { priority: 100 }))).toBe(false)
    expect(scheduler.offer(makeWaiting('d', { priority: 900 }))).toBe(false)
    scheduler.release('default/a')
    expect(world.granted).toEqual(['d'])
  })

  it('counts a task that its queue holds nowhere until it runs', () => {
    const { scheduler, world } = openScheduler({ capacity: Number.POSITIVE_INFINITY, limit: 1, namespaceLimit: 1 })
    const first = makeWaiting('a')
    scheduler.open()
    scheduler.adopt(first.key, runOf(first))
    expect(scheduler.offer(makeWaiting('b'))).toBe(false)
    scheduler.adopt(first.key, { ...runOf(first), isBlocked: true })
    expect(world.granted).toEqual(['b'])
    expect(scheduler.known(first.key, first.uid).liveAttempt).toBe(1)
    scheduler.release('default/b')
    scheduler.adopt(first.key, runOf(first))
    expect(scheduler.offer(makeWaiting('c'))).toBe(false)
    scheduler.release(first.key)
    expect(world.granted).toEqual(['b', 'c'])
  })

  it('tells the caller at once when it may start, and does not call back for it', () => {
    const { scheduler, world } = openScheduler({ capacity: 1 })
    scheduler.open()
    expect(scheduler.offer(makeWaiting('a'))).toBe(true)
    expect(world.granted).toEqual([])
  })

  it('holds the place of a grant until the attempt has really started', () => {
    const { scheduler, world } = openScheduler({ capacity: 1 })
    scheduler.open()
    const first = makeWaiting('a')
    scheduler.offer(first)
    scheduler.offer(makeWaiting('b'))
    scheduler.setStarting(first.key, runOf(first))
    scheduler.pump()
    expect(world.granted).toEqual([])
    scheduler.setStarted(first.key)
    scheduler.pump()
    expect(world.granted).toEqual(['b'])
  })

  it('passes a grant on when the task withdraws', () => {
    const { scheduler, world } = openScheduler({ capacity: 1 })
    scheduler.open()
    scheduler.offer(makeWaiting('a'))
    scheduler.offer(makeWaiting('b'))
    scheduler.release('default/a')
    expect(world.granted).toEqual(['b'])
  })

  it('does not mistake a task for an earlier one of its name', () => {
    const { scheduler } = openScheduler({ capacity: 5 })
    scheduler.open()
    scheduler.adopt('default/a', { namespace: 'default', uid: 'new', attempt: 2 })
    scheduler.releaseObject('default/a', 'old')
    expect(scheduler.known('default/a', 'new').liveAttempt).toBe(2)
    expect(scheduler.known('default/a', 'old').liveAttempt).toBeUndefined()
  })

  it('says which limit holds a task back [TASK-040]', () => {
    const { scheduler } = openScheduler({ capacity: 5, namespaceLimit: 2 })
    scheduler.open()
    const child = makeWaiting('c1', { siblings: 'default/p', siblingLimit: 1 })
    scheduler.adopt(child.key, runOf(child))
    const second = makeWaiting('c2', { siblings: 'default/p', siblingLimit: 1 })
    expect(scheduler.offer(second)).toBe(false)
    expect(scheduler.blockedBy(second)).toBe('SiblingLimit')
    expect(scheduler.offer(makeWaiting('other'))).toBe(true)
    expect(scheduler.blockedBy(makeWaiting('third'))).toBe('NamespaceLimit')
  })

  it('lets namespaces of equal priority take turns, however many one of them has waiting', () => {
    const { scheduler, world } = openScheduler({ capacity: 0 })
    scheduler.open()
    for (let at = 0; at < 10_000; at += 1) scheduler.offer(makeWaiting(`many${at}`, { namespace: 'many' }))
    for (let at = 0; at < 10; at += 1) scheduler.offer(makeWaiting(`few${at}`, { namespace: 'few' }))
    scheduler.offer(makeWaiting('low', { namespace: 'third', priority: 400 }))
    world.capacity = 30
    scheduler.pump()
    expect(world.granted.filter((name) => name.startsWith('few'))).toHaveLength(10)
    // In turns as long as both have any, and each in its own order.
    expect(world.granted.slice(0, 20).filter((name) => name.startsWith('many'))).toHaveLength(10)
    expect(world.granted.slice(20).every((name) => name.startsWith('many'))).toBe(true)
    expect(world.granted).not.toContain('low')
  })

  it('keeps order and limits with a hundred thousand waiting', () => {
    const { scheduler, world } = openScheduler({ capacity: 0, namespaceLimit: 10 })
    scheduler.open()
    for (let index = 0; index < 100_000; index += 1) {
      scheduler.offer(makeWaiting(`t${index}`, { priority: index % 1000, namespace: `n${index % 7}` }))
    }
    world.capacity = 50
    scheduler.pump()
    const priorities = world.granted.map((name) => Number(name.slice(1)) % 1000)
    expect(priorities).toHaveLength(50)
    expect(Math.min(...priorities)).toBe(999)
    for (let index = 0; index < 1000; index += 1) scheduler.release(`default/${world.granted.shift()}`)
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
  const running = new Map<string, WaitingTask>()
  const waiting = new Map<string, WaitingTask>()
  const seen = { overtaken: [] as string[], running: [] as number[], runningInX: [] as number[] }

  function isBefore(other: WaitingTask, started: WaitingTask): boolean {
    return other.namespace === started.namespace && compareStart(other.rank, started.rank) < 0
  }
  function start(key: string): void {
    const started = waiting.get(key)
    if (started === undefined) throw new Error(`${key} was granted without waiting`)
    waiting.delete(key)
    running.set(key, started)
    seen.overtaken.push(...[...waiting.values()].filter((other) => isBefore(other, started)).map((other) => other.key))
  }
  const scheduler = createScheduler({ limit: 0, ...limits, capacity: () => limits.capacity, onGrant: start })
  scheduler.open()
  for (const [index, { priority, namespace, end }] of arrivals.entries()) {
    const next = makeWaiting(`t${String(index).padStart(3, '0')}`, { priority, namespace })
    waiting.set(next.key, next)
    if (scheduler.offer(next)) start(next.key)
    const [oldest] = running.keys()
    if (end && oldest !== undefined && running.delete(oldest)) scheduler.release(oldest)
    seen.running.push(running.size)
    seen.runningInX.push([...running.values()].filter((run) => run.namespace === 'x').length)
  }
  return seen
}
