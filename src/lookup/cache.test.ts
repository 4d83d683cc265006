import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMigrated } from '../../test/fixtures/sqlite.ts'
import { createManualClock, type ManualClock } from '../../test/fixtures/time.ts'
import { systemIds as ids } from '../lib/system-clock.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { createResources, type ResourceStore } from '../store/resources/resources.ts'
import type { SqliteDatabase } from '../store/sqlite/database.ts'
import {
  type ChangePorts,
  createLookupCaches,
  type LookupCacheOptions,
  type LookupCaches,
  type LookupSource,
} from './cache.ts'

let folder: string
let database: SqliteDatabase
let store: ResourceStore
let clock: ManualClock
let memory: LookupCaches
/** End the watches that are open, as a store does that goes away. */
let breakers: (() => void)[]
let isAway: boolean
const listeners = new Set<(key: ResourceKey) => void>()

/** A store that can go away. */
const resources: ChangePorts['resources'] = {
  list: (kind, query) => (isAway ? Promise.reject(new Error('the store is away')) : store.list(kind, query)),
  watch(kind, options) {
    const broken = new AbortController()
    breakers.push(() => broken.abort())
    return store.watch(kind, { ...options, signal: AbortSignal.any([options.signal, broken.signal]) })
  },
}

const secrets: ChangePorts['secrets'] = {
  onChange(listener) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-memory-'))
  database = await openMigrated(join(folder, 'svc.db'))
  clock = createManualClock()
  store = await createResources(database, { clock, ids })
  breakers = []
  isAway = false
})
afterEach(async () => {
  memory.close()
  await store.close()
  await database.close()
  await rm(folder, { recursive: true })
  expect(listeners.size).toBe(0)
})

function openCache(options: Partial<LookupCacheOptions> = {}) {
  memory = createLookupCaches({ resources, secrets, clock }, { kinds: ['Skill', 'Agent'], ...options })
  return memory.createCache<string>()
}

let made = 0

/** A value that is another one each time it is made. */
function makeFor(namespace?: string): LookupSource<string> {
  const load = async () => `value ${++made}`
  return namespace === undefined ? { load } : { namespace, load }
}

function change(kind: 'Skill' | 'Agent' | 'Provider', namespace: string) {
  const spec = kind === 'Skill' ? { description: 'x', content: 'y' } : { type: 'llmo' }
  return store.create(kind, { metadata: { namespace, name: ids.hex(8) }, spec: spec as never })
}

const isGone = (read: () => unknown) => expect.poll(read).toBeUndefined()

describe('the cache of the catalog', () => {
  it('returns a kept value at once, and computes a missing one once for all who ask at the same time', async () => {
    const cache = openCache()
    expect(cache.peek('a')).toBeUndefined()
    const before = made
    const [first, second] = await Promise.all([cache.get('a', makeFor('n')), cache.get('a', makeFor('n'))])
    expect([first, made - before]).toEqual([second, 1])
    expect(cache.peek('a')).toBe(first)
    expect(await cache.get('a', makeFor('n'))).toBe(first)
    expect(memory.createCache<string>().peek('a')).toBeUndefined()
  })

  it('drops the values of a namespace in which something changes, and those of all namespaces', async () => {
    const cache = openCache()
    const kept = await cache.get('b', makeFor('other'))
    for (const kind of ['Skill', 'Agent'] as const) {
      await Promise.all([cache.get('a', makeFor('n')), cache.get('all', makeFor())])
      await change(kind, 'n')
      await isGone(() => cache.peek('a') ?? cache.peek('all'))
    }
    expect(cache.peek('b')).toBe(kept)
  })

  it('keeps values that changes of other kinds do not affect', async () => {
    const cache = openCache({ kinds: ['Agent'] })
    const kept = await cache.get('b', makeFor('n'))
    await cache.get('c', makeFor('other'))
    await change('Provider', 'n')
    await change('Agent', 'other')
    await isGone(() => cache.peek('c'))
    expect(cache.peek('b')).toBe(kept)
  })

  it('drops the values of a namespace whose Secrets change', async () => {
    const cache = openCache()
    await Promise.all([cache.get('a', makeFor('n')), cache.get('all', makeFor())])
    const kept = await cache.get('b', makeFor('other'))
    for (const tell of listeners) tell({ namespace: 'n', name: 'key' })
    expect([cache.peek('a'), cache.peek('all'), cache.peek('b')]).toEqual([undefined, undefined, kept])
  })

  it('does not keep a value when something changed while it was computed', async () => {
    const cache = openCache()
    await cache.get('witness', makeFor('n'))
    const gate = Promise.withResolvers<string>()
    const slow = cache.get('slow', { namespace: 'n', load: () => gate.promise })
    await change('Agent', 'n')
    await isGone(() => cache.peek('witness'))
    const fresh = await cache.get('slow', makeFor('n'))
    gate.resolve('of the state before')
    expect(await slow).toBe('of the state before')
    expect(cache.peek('slow')).toBe(fresh)
  })

  it('does not keep a failure', async () => {
    const cache = openCache()
    const failing = () => cache.get('a', { namespace: 'n', load: () => Promise.reject(new Error('no key')) })
    await expect(failing()).rejects.toThrow('no key')
    expect(await cache.get('a', makeFor('n'))).toBe(cache.peek('a'))
  })
})

describe('the cache when its store goes away', () => {
  it('keeps nothing from the moment a watch breaks until all watches are open again', async () => {
    const cache = openCache()
    await cache.get('a', makeFor('n'))
    expect(breakers).toHaveLength(2)
    breakers[0]?.()
    await isGone(() => cache.peek('a'))
    await expect.poll(() => listeners.size).toBe(0)
    const before = made
    await cache.get('a', makeFor('n'))
    await cache.get('a', makeFor('n'))
    expect([made - before, cache.peek('a'), breakers.length]).toEqual([2, undefined, 2])
    await clock.advance(1000)
    const kept = await cache.get('a', makeFor('n'))
    expect([cache.peek('a'), breakers.length]).toEqual([kept, 4])
    await change('Skill', 'n')
    await isGone(() => cache.peek('a'))
  })

  it('does not keep a value that was being computed when a watch broke', async () => {
    const cache = openCache()
    await cache.get('witness', makeFor('n'))
    const gate = Promise.withResolvers<string>()
    const slow = cache.get('slow', { namespace: 'n', load: () => gate.promise })
    breakers[1]?.()
    await isGone(() => cache.peek('witness'))
    gate.resolve('unsure')
    expect([await slow, cache.peek('slow')]).toEqual(['unsure', undefined])
  })

  it('computes values, without keeping them, while nothing can be watched', async () => {
    const cache = openCache()
    isAway = true
    expect(await cache.get('a', makeFor('n'))).toBe(`value ${made}`)
    expect(cache.peek('a')).toBeUndefined()
    isAway = false
    await clock.advance(1000)
    expect(await cache.get('a', makeFor('n'))).toBe(cache.peek('a'))
  })
})

describe('the limits of the cache', () => {
  it('include a number of values, of which the oldest is dropped', async () => {
    const cache = openCache({ maxEntries: 2 })
    for (const key of ['a', 'b', 'c']) await cache.get(key, makeFor('n'))
    expect(['a', 'b', 'c'].map((key) => cache.peek(key) !== undefined)).toEqual([false, true, true])
  })

  it('include an age, where one is set', async () => {
    const cache = openCache({ maxAgeMs: 5000 })
    const kept = await cache.get('a', makeFor('n'))
    await clock.advance(4999)
    expect(cache.peek('a')).toBe(kept)
    await clock.advance(1)
    expect(cache.peek('a')).toBeUndefined()
    await cache.get('b', makeFor('n'))
    await clock.advance(5000)
    expect(cache.peek('b')).toBeUndefined()
  })

  it('end with close(), after which it watches nothing and keeps nothing', async () => {
    const cache = openCache({ maxAgeMs: 5000 })
    await cache.get('a', makeFor('n'))
    memory.close()
    expect([cache.peek('a'), listeners.size, clock.sleeping()]).toEqual([undefined, 0, 0])
    expect(await cache.get('a', makeFor('n'))).toBe(`value ${made}`)
    expect([cache.peek('a'), listeners.size, breakers.length]).toEqual([undefined, 0, 2])
  })
})
