import { describe, expect, it } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

const keysOf = <K, V>(map: BoundedMap<K, V>) => [...map].map(([key]) => key)

function fill<V>(map: BoundedMap<string, V>, entries: Record<string, V>): BoundedMap<string, V> {
  for (const [key, value] of Object.entries(entries)) map.set(key, value)
  return map
}

describe('by count', () => {
  const abc = () => fill(new BoundedMap<string, number>({ max: 3 }), { a: 1, b: 2, c: 3 })

  it('drops what was set longest ago', () => {
    const map = fill(abc(), { d: 4 })
    expect([...map]).toEqual([
      ['b', 2],
      ['c', 3],
      ['d', 4],
    ])
    expect(map.size).toBe(3)
    expect(map.get('a')).toBeUndefined()
  })

  it('counts a replaced entry as new, and only once', () => {
    expect(keysOf(fill(abc(), { a: 10, d: 4 }))).toEqual(['c', 'a', 'd'])
  })

  it('keeps what was touched longer than what was only read', () => {
    const map = abc()
    expect(map.touch('a')).toBe(1)
    expect(map.get('b')).toBe(2)
    expect(keysOf(fill(map, { d: 4 }))).toEqual(['c', 'a', 'd'])
    expect(map.touch('missing')).toBeUndefined()
    expect(map.size).toBe(3)
  })

  it('has room again after a removal', () => {
    const map = abc()
    expect(map.delete('b')).toBe(true)
    expect(map.delete('b')).toBe(false)
    expect(keysOf(fill(map, { d: 4 }))).toEqual(['a', 'c', 'd'])
    map.clear()
    expect(map.size).toBe(0)
    expect(keysOf(fill(map, { e: 5, f: 6, g: 7 }))).toEqual(['e', 'f', 'g'])
  })

  it('tells an entry whose value is undefined from none', () => {
    const map = fill(new BoundedMap<string, undefined>({ max: 1 }), { a: undefined })
    expect([map.has('a'), map.has('b')]).toEqual([true, false])
  })

  it('reports only what it drops by itself', () => {
    const dropped: [string, number][] = []
    const map = new BoundedMap<string, number>({ max: 2, onDrop: (value, key) => dropped.push([key, value]) })
    fill(map, { a: 1, b: 2, c: 3 })
    fill(map, { c: 30 })
    map.delete('b')
    map.clear()
    expect(dropped).toEqual([['a', 1]])
  })

  it('may be changed while it is read', () => {
    const map = abc()
    for (const [key, value] of map) if (value !== 2) map.delete(key)
    expect(keysOf(map)).toEqual(['b'])
  })
})

describe('by size', () => {
  const bySize = () => new BoundedMap<string, string>({ max: 10, sizeOf: (text) => text.length })

  it('drops as many of the oldest as the new one needs', () => {
    const map = fill(bySize(), { a: 'aaa', b: 'bbb', c: 'cccc' })
    expect(map.size).toBe(3)
    expect(keysOf(fill(map, { d: 'ddddd' }))).toEqual(['c', 'd'])
  })

  it('counts what a replaced value took no longer', () => {
    const map = fill(bySize(), { a: 'aaaaa', b: 'bbbbb' })
    expect(keysOf(fill(map, { a: 'a', c: 'cccc' }))).toEqual(['b', 'a', 'c'])
  })

  it('does not keep what alone is too large', () => {
    const map = fill(bySize(), { a: 'aaa' })
    expect(keysOf(fill(map, { b: 'b'.repeat(11) }))).toEqual([])
    expect(keysOf(fill(map, { c: 'c'.repeat(10) }))).toEqual(['c'])
  })
})

describe('by age', () => {
  let now = 0

  function byAge(maxMs: number | ((value: number) => number), dropped: string[] = []) {
    now = 1000
    return new BoundedMap<string, number>({
      max: 10,
      age: { maxMs, now: () => now },
      onDrop: (_value, key) => dropped.push(key),
    })
  }

  it('forgets what is as old as it may be', () => {
    const dropped: string[] = []
    const map = fill(byAge(100, dropped), { a: 1 })
    now += 99
    expect(map.get('a')).toBe(1)
    expect(map.has('a')).toBe(true)
    now += 1
    expect(keysOf(map)).toEqual([])
    expect(map.has('a')).toBe(false)
    expect(map.get('a')).toBeUndefined()
    expect(dropped).toEqual(['a'])
  })

  it('does not grow younger by being touched, only by being set', () => {
    const map = fill(byAge(100), { a: 1, b: 2 })
    now += 60
    map.touch('a')
    map.set('b', 3)
    now += 60
    expect([map.get('a'), map.get('b')]).toEqual([undefined, 3])
  })

  it('counts from the time that it is told', () => {
    const map = byAge(100)
    map.set('a', 1, now - 90)
    expect(map.get('a')).toBe(1)
    now += 10
    expect(map.get('a')).toBeUndefined()
  })

  it('lets the value say how long it is good', () => {
    const map = fill(
      byAge((value) => value),
      { short: 10, long: 1000 },
    )
    now += 10
    expect(keysOf(map)).toEqual(['long'])
  })

  it('forgets what comes from the future, after the clock was set back', () => {
    const map = fill(byAge(100), { a: 1 })
    now -= 100
    expect(map.get('a')).toBeUndefined()
  })
})
