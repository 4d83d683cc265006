// The resource store on SQLite: the suite of the port, and what only an embedded store does.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uuidv7 } from 'uuidv7'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/errors.ts'
import type { Clock, Ids } from '../../src/lib/clock.ts'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import { sql } from '../../src/store/database/statement.ts'
import { createResources, type ResourceStore, type ResourceStoreOptions } from '../../src/store/resources/resources.ts'
import type { SqliteDatabase } from '../../src/store/sqlite/database.ts'
import { openMigrated } from '../fixtures/sqlite.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { describeResources } from './resources.contract.ts'
import { changeStatus, draftTask, followTasks, namesOf, ownedBy, reasonOf } from './resources-bench.ts'

const ids: Ids = {
  next: (prefix) => (prefix === undefined ? uuidv7() : `${prefix}-${uuidv7()}`),
  hex: () => '',
  random: Math.random,
}
const namespace = 'default'

/** A store in a folder of its own, which can be stopped and started again. */
async function openStore(options: Partial<ResourceStoreOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-resources-'))
  let database: SqliteDatabase
  let resources: ResourceStore
  const start = async () => {
    database = await openMigrated(join(folder, 'svc.db'))
    resources = await createResources(database, { clock, ids, ...options })
  }
  const stop = async () => {
    await resources.close()
    await database.close()
  }
  await start()
  return {
    resources: () => resources,
    database: () => database,
    restart: async () => {
      await stop()
      await start()
    },
    close: async () => {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}

describeResources('SQLite', async () => {
  const store = await openStore()
  return { resources: store.resources(), namespaces: ['default', 'other'], close: store.close }
})

describe('resources in SQLite alone', () => {
  let store: Awaited<ReturnType<typeof openStore>>
  beforeEach(async () => {
    store = await openStore({ ring: { changes: 20, characters: 1_000_000 } })
  })
  afterEach(() => store.close())

  const create = (name: string, metadata: Partial<Parameters<typeof draftTask>[1]> = {}) =>
    store.resources().create('Task', draftTask(name, { namespace, ...metadata }))
  const list = (query: Parameters<ResourceStore['list']>[1] = {}) =>
    store.resources().list('Task', { namespace, ...query })
  const createMany = (prefix: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => create(`${prefix}-${String(index).padStart(3, '0')}`)))

  const readTexts = (names: string[]) =>
    Promise.all(names.map((name) => store.resources().getText('Task', { namespace, name })))

  describe('after a restart', () => {
    it('every object is there, found by the same filters [MODE-002]', async () => {
      await createMany('a', 30)
      await create('labelled', { labels: { team: 'x' }, spec: { prompt: 'a\0b' } })
      await changeStatus(store.resources(), { namespace, name: 'a-007' }, () => ({ phase: 'Running' }))
      const before = await list()
      const textsBefore = await readTexts(['a-007', 'labelled', 'missing'])
      await store.restart()
      expect((await list()).items).toEqual(before.items)
      expect(await readTexts(['a-007', 'labelled', 'missing'])).toEqual(textsBefore)
      expect(namesOf((await list({ labelSelector: 'team=x' })).items)).toEqual(['labelled'])
      expect(namesOf((await list({ fields: { phase: 'Running' } })).items)).toEqual(['a-007'])
      expect((await list({ limit: 1 })).remainingItemCount).toBe(30)
    })

    it('sums of tasks are the same, also while tasks are written as they are read', async () => {
      await createMany('a', 5)
      await changeStatus(store.resources(), { namespace, name: 'a-001' }, () => ({ phase: 'Running' }))
      const before = await store.resources().tallyTasks('phase')
      expect(before.toSorted((x, y) => x.count - y.count).map(({ value, count }) => [value, count])).toEqual([
        ['Running', 1],
        ['Pending', 4],
      ])
      await store.restart()
      expect((await store.resources().tallyTasks('phase')).toSorted((x, y) => y.count - x.count)).toEqual(
        before.toSorted((x, y) => y.count - x.count),
      )
      await store.restart()
      const written = Array.from({ length: 50 }, (_, at) => create(`b-${at}`))
      const reads = Array.from({ length: 50 }, (_, at) => pause(at).then(() => store.resources().tallyTasks('phase')))
      await Promise.all([...written, ...reads])
      const after = await store.resources().tallyTasks('phase')
      expect(after.find(({ value }) => value === 'Pending')?.count).toBe(54)
    })

    it('versions go on rising, though the last write removed an object', async () => {
      await create('a')
      const removed = await store.resources().remove('Task', { namespace, name: 'a' })
      await store.restart()
      const made = await create('b')
      expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(Number(removed.metadata.resourceVersion))
    })

    it('a watch resumes at the last version and is Expired at an older one', async () => {
      await create('a')
      const older = (await list()).resourceVersion
      await create('b')
      const last = (await list()).resourceVersion
      await store.restart()
      const resumed = followTasks(store.resources(), { namespace, resourceVersion: last })
      await create('c')
      await resumed.until('ADDED', 'c')
      await resumed.stop()
      expect(resumed.log()).toEqual(['ADDED c'])
      const expired = followTasks(store.resources(), { namespace, resourceVersion: older })
      expect(await expired.failed).toMatchObject({ reason: 'Expired' })
    })

    it('a listing goes on from its token', async () => {
      await createMany('a', 5)
      const first = await list({ limit: 2 })
      await store.restart()
      const second = await list({ limit: 2, continue: first.continue ?? '' })
      expect(namesOf(second.items)).toEqual(['a-002', 'a-003'])
      expect(second.remainingItemCount).toBe(1)
    })

    it('the removal of owned objects continues', async () => {
      const owner = await create('owner')
      await Promise.all(
        Array.from({ length: 120 }, (_, index) => create(`child-${index}`, { ownerReferences: [ownedBy(owner)] })),
      )
      await store.resources().remove('Task', { namespace, name: 'owner' })
      await store.restart()
      await waitFor(async () => (await list()).items.length === 0)
      await waitFor(async () => (await store.database().read.all(sql`select uid from absent_owners`)).length === 0)
    })
  })

  describe('when changes are forgotten', () => {
    it('a watch from before them is Expired', async () => {
      const { resourceVersion } = await list()
      await createMany('a', 30)
      const watch = followTasks(store.resources(), { namespace, resourceVersion })
      expect(await watch.failed).toMatchObject({ reason: 'Expired' })
    })

    it('a watcher that is too slow is Expired instead of missing a change', async () => {
      await create('first')
      const stop = new AbortController()
      const watch = store.resources().watch('Task', { namespace, signal: stop.signal })[Symbol.asyncIterator]()
      expect((await watch.next()).value).toMatchObject({ type: 'ADDED' })
      await createMany('a', 30)
      expect(await reasonOf(watch.next())).toBe('Expired')
      stop.abort()
    })

    it('a watcher of a quiet kind goes on', async () => {
      const { resourceVersion } = await list()
      const watch = followTasks(store.resources(), { namespace: 'quiet', resourceVersion })
      await create('first', { namespace: 'quiet' })
      await watch.until('ADDED', 'first')
      await createMany('a', 60)
      await create('second', { namespace: 'quiet' })
      await watch.until('ADDED', 'second')
      await watch.stop()
      expect(watch.log()).toEqual(['ADDED first', 'ADDED second'])
    })

    it('a version from the future is refused', async () => {
      const future = followTasks(store.resources(), { namespace, resourceVersion: '99999' })
      expect(await future.failed).toMatchObject({ reason: 'Expired' })
      const nonsense = followTasks(store.resources(), { namespace, resourceVersion: 'x' })
      expect(await nonsense.failed).toMatchObject({ reason: 'InvalidRequest' })
    })

    it('reading an object again returns the same text', async () => {
      await create('kept', { labels: { team: 'x' } })
      await create('gone')
      await store.resources().remove('Task', { namespace, name: 'gone' })
      const before = await readTexts(['kept', 'gone'])
      await createMany('a', 30)
      expect(await readTexts(['kept', 'gone'])).toEqual(before)
      expect(before[1]).toBeUndefined()
      expect(JSON.parse(before[0]?.text ?? '')).toEqual(
        await store.resources().get('Task', { namespace, name: 'kept' }),
      )
    })

    it('a listing goes on from its last key over the present objects', async () => {
      await createMany('b', 4)
      const first = await list({ limit: 2 })
      await createMany('a', 30)
      await create('b-000-new')
      await store.resources().remove('Task', { namespace, name: 'b-002' })
      await create('b-009')
      const second = await list({ limit: 3, continue: first.continue ?? '' })
      expect(namesOf(second.items)).toEqual(['b-003', 'b-009'])
      expect(second.continue).toBeUndefined()
    })
  })

  it('gives each watcher a frozen object, because watchers share it', async () => {
    const watch = followTasks(store.resources(), { namespace, resourceVersion: (await list()).resourceVersion })
    await create('a', { labels: { team: 'x' } })
    await watch.until('ADDED', 'a')
    await watch.stop()
    expect(Object.isFrozen(watch.events[0]?.object.metadata.labels)).toBe(true)
  })

  it('keeps lone surrogates and finds objects by values that hold NUL', async () => {
    const agent = 'a\0b'
    const { metadata, spec } = draftTask('a', { namespace, spec: { prompt: '\ud800 \udc00' } })
    const odd = { ...spec, agentRef: { name: agent } }
    await store.resources().create('Task', { metadata, spec: odd })
    await create('b', { spec: { agentRef: { name: 'a' } } })
    const found = await list({ fields: { agent } })
    expect(namesOf(found.items)).toEqual(['a'])
    expect(found.items[0]?.spec.prompt).toBe('\ud800 \udc00')
  })

  it('refuses an object over 1 MiB and takes one just below, counted in bytes [HTTP-032]', async () => {
    expect(await reasonOf(create('big', { spec: { prompt: 'é'.repeat(524_288) } }))).toBe('TooLarge')
    const made = await create('fits', { spec: { prompt: 'é'.repeat(523_000) } })
    const grown = { ...made, metadata: { ...made.metadata, annotations: { note: 'x'.repeat(4000) } } }
    expect(await reasonOf(store.resources().update('Task', grown))).toBe('TooLarge')
    expect(namesOf((await list()).items)).toEqual(['fits'])
  })

  it('refuses nesting beyond the stack, and can change what is nested deeply', async () => {
    const draftNested = (name: string, levels: number) => {
      let deep: unknown = 'leaf'
      for (let level = 0; level < levels; level += 1) deep = [deep]
      const task = draftTask(name, { namespace })
      return { ...task, spec: { ...task.spec, transaction: { context: { deep } as object } } }
    }
    expect(await reasonOf(store.resources().create('Task', draftNested('deepest', 100_000)))).toBe('InvalidRequest')
    const made = await store.resources().create('Task', draftNested('deep', 2500))
    const updated = await store.resources().update('Task', { ...made, spec: { ...made.spec, priority: 1 } })
    expect(updated.metadata.generation).toBe(2)
    const running = await store.resources().updateStatus('Task', { ...updated, status: { phase: 'Running' } })
    expect(running.metadata.generation).toBe(2)
  })

  describe('on a full disk', () => {
    it('refuses writes with StorageFull, keeps what was written, reads on, and recovers', async () => {
      await createMany('kept', 5)
      const before = (await list()).items
      store.database().limitPages(1)
      const reasons = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          reasonOf(create(`full-${index}`, { spec: { prompt: 'x'.repeat(20_000) } })),
        ),
      )
      expect(new Set(reasons)).toEqual(new Set(['StorageFull']))
      expect((await list()).items).toEqual(before)
      expect((await list({ limit: 1 })).remainingItemCount).toBe(4)
      store.database().limitPages(1_000_000)
      const made = await create('after', { spec: { prompt: 'x'.repeat(20_000) } })
      const watch = followTasks(store.resources(), { namespace })
      await watch.until('ADDED', 'after')
      await watch.stop()
      await store.restart()
      expect((await list()).items).toEqual([made, ...before])
    })
  })

  it('collects dependants once a disk that was full has room again, and tells of the fault', async () => {
    const faults: unknown[] = []
    await store.close()
    const sleep: Clock['sleep'] = (_ms, signal) => clock.sleep(2, signal)
    store = await openStore({ clock: { ...clock, sleep }, reportFault: (error) => faults.push(error) })
    const owner = await create('owner')
    await create('child', { ownerReferences: [ownedBy(owner)] })
    const database = store.database()
    const { write } = database
    let writes = 0
    database.write = (work) => {
      writes += 1
      return writes === 1 ? write(work) : Promise.reject(new SvcError('StorageFull', 'full'))
    }
    await store.resources().remove('Task', { namespace, name: 'owner' })
    await waitFor(async () => faults.length > 1)
    expect(namesOf((await list()).items)).toEqual(['child'])
    database.write = write
    await waitFor(async () => (await list()).items.length === 0)
    expect(faults[0]).toMatchObject({ reason: 'StorageFull' })
  })

  it('counts objects without counting rows, through every kind of change', async () => {
    await createMany('a', 10)
    await create('b', { finalizers: ['svc.ai/one'] })
    await store.resources().remove('Task', { namespace, name: 'a-003' })
    const marked = await store.resources().remove('Task', { namespace, name: 'b' })
    expect((await list({ limit: 1 })).remainingItemCount).toBe(9)
    await store.resources().update('Task', { ...marked, metadata: { ...marked.metadata, finalizers: [] } })
    await reasonOf(create('a-001'))
    expect((await list({ limit: 1 })).remainingItemCount).toBe(8)
    expect((await store.resources().list('Task', { limit: 2 })).remainingItemCount).toBe(7)
  })

  it('leaves no entries in the index when objects are removed, even together with a change', async () => {
    await create('a', { labels: { team: 'x' } })
    const marked = await create('b', { labels: { team: 'x' }, finalizers: ['svc.ai/one'] }).then(() =>
      store.resources().remove('Task', { namespace, name: 'b' }),
    )
    await store.resources().remove('Task', { namespace, name: 'a' })
    const changed = { ...marked.metadata, labels: { team: 'y', size: '1' }, finalizers: [] }
    await store.resources().update('Task', { ...marked, metadata: changed })
    expect(await store.database().read.all(sql`select field, value from resource_index`)).toEqual([])
  })

  it('finds rare objects among many without reading the rest', async () => {
    await Promise.all(
      Array.from({ length: 1500 }, (_, index) =>
        create(`t-${index}`, {
          labels: { parity: index % 2 === 0 ? 'even' : 'odd', half: index < 750 ? 'low' : 'high' },
        }),
      ),
    )
    const last = { parity: 'even', half: 'high', rare: 'yes' }
    await create('zz', { labels: last })
    expect(namesOf((await list({ labelSelector: 'parity=even,half=high,rare', limit: 5 })).items)).toEqual(['zz'])
    expect((await list({ labelSelector: 'parity=even,half=high' })).items).toHaveLength(376)
    expect((await list({ labelSelector: 'parity!=even,half notin (low)' })).items).toHaveLength(375)
    expect(namesOf((await list({ labelSelector: 'parity in (even,odd),rare in (yes,no)' })).items)).toEqual(['zz'])
  })
})
