import { describe, expect, it } from 'vitest'
import { type Change, createChangeRing, type Follower } from './change-ring.ts'

const scope = { kind: 'Task' as const }

function makeChange(version: number, parts: Partial<Change> = {}): Change {
  return {
    version,
    type: 'ADDED',
    kind: 'Task',
    namespace: 'n',
    name: `t${version}`,
    created: '',
    object: '{}',
    ...parts,
  }
}

function takeAll(follower: Follower | undefined): (number | string)[] {
  const taken: (number | string)[] = []
  for (let change = follower?.take(); change !== undefined; change = follower?.take()) {
    taken.push(change === 'lost' ? change : change.version)
    if (change === 'lost') return taken
  }
  return taken
}

describe('createChangeRing', () => {
  it('keeps the configured number of changes, and knows which it has dropped', () => {
    const ring = createChangeRing(10, { changes: 3, characters: 1000 })
    for (const version of [11, 12, 14, 15]) ring.publish(makeChange(version))
    expect(ring.head()).toBe(15)
    expect(ring.listSince(11, scope)?.map(({ version }) => version)).toEqual([12, 14, 15])
    expect(ring.listSince(13, scope)?.map(({ version }) => version)).toEqual([14, 15])
    expect(ring.listSince(15, scope)).toEqual([])
    expect(ring.listSince(10, scope)).toBeUndefined()
  })

  it('finds the last change of each object until it is dropped', () => {
    const ring = createChangeRing(0, { changes: 3, characters: 1000 })
    const find = (name: string) => ring.findLast('Task', { namespace: 'n', name })?.version
    ring.publish(makeChange(1, { name: 'a' }))
    ring.publish(makeChange(2, { name: 'b' }))
    ring.publish(makeChange(3, { name: 'a' }))
    expect([find('a'), find('b'), find('c')]).toEqual([3, 2, undefined])
    ring.publish(makeChange(4, { name: 'a', kind: 'Agent' }))
    expect([find('a'), find('b')]).toEqual([3, 2])
    ring.publish(makeChange(5, { name: 'c' }))
    ring.publish(makeChange(6, { name: 'd' }))
    expect([find('a'), find('b'), find('c')]).toEqual([undefined, undefined, 5])
  })

  it('has no changes from before it was opened', () => {
    const ring = createChangeRing(10)
    expect(ring.listSince(10, scope)).toEqual([])
    expect(ring.listSince(9, scope)).toBeUndefined()
    expect(ring.follow(scope, 9)).toBeUndefined()
    expect(ring.follow(scope, 11)).toBeUndefined()
    expect(ring.follow(scope, 10)).toBeDefined()
  })

  it('drops changes by total size too, even one that alone exceeds the limit', () => {
    const ring = createChangeRing(0, { changes: 100, characters: 100 })
    ring.publish(makeChange(1, { object: 'x'.repeat(60) }))
    ring.publish(makeChange(2, { object: 'x'.repeat(30), before: 'x'.repeat(30) }))
    expect(ring.listSince(0, scope)).toBeUndefined()
    expect(ring.listSince(1, scope)).toHaveLength(1)
    ring.publish(makeChange(3, { object: 'x'.repeat(200) }))
    expect(ring.listSince(2, scope)).toBeUndefined()
    expect(ring.listSince(3, scope)).toEqual([])
  })

  it('lets a follower read the changes of its scope from its position on', () => {
    const ring = createChangeRing(0)
    ring.publish(makeChange(1))
    ring.publish(makeChange(2, { kind: 'Agent' }))
    ring.publish(makeChange(3, { namespace: 'other' }))
    const all = ring.follow(scope, 0)
    const some = ring.follow({ kind: 'Task', namespace: 'n' }, 1)
    ring.publish(makeChange(4))
    expect(takeAll(all)).toEqual([1, 3, 4])
    expect(takeAll(some)).toEqual([4])
    ring.publish(makeChange(5))
    expect(takeAll(some)).toEqual([5])
  })

  it('tells a follower when a change of its scope was dropped, but not when its scope was quiet', () => {
    const ring = createChangeRing(0, { changes: 2, characters: 1000 })
    const slow = ring.follow(scope, 0)
    const quiet = ring.follow({ kind: 'Agent' }, 0)
    for (const version of [1, 2, 3]) ring.publish(makeChange(version))
    expect(takeAll(slow)).toEqual(['lost'])
    ring.publish(makeChange(4, { kind: 'Agent' }))
    expect(takeAll(quiet)).toEqual([4])
  })

  it('wakes a waiting follower on a change of its scope, and on closing', async () => {
    const ring = createChangeRing(0)
    const follower = ring.follow(scope, 0)
    let woken = 0
    const waiting = follower?.wait().then(() => woken++)
    ring.publish(makeChange(1, { kind: 'Agent' }))
    await Promise.resolve()
    expect(woken).toBe(0)
    ring.publish(makeChange(2))
    await waiting
    expect(takeAll(follower)).toEqual([2])
    const last = follower?.wait()
    ring.close()
    await last
    expect(follower?.isClosed()).toBe(true)
  })
})
