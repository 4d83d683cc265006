// Removal: preconditions, finalizers and what is owned.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import {
  draftTask,
  namesOf,
  type OpenedResources,
  type OpenResources,
  ownedBy,
  reasonOf,
  type Task,
} from './resources-bench.ts'

export function describeResourceRemoval(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  const create = (name: string, metadata: Parameters<typeof draftTask>[1]) =>
    opened.resources.create('Task', draftTask(name, metadata))
  const read = (name: string) => opened.resources.get('Task', { namespace, name })
  const isAbsent = async (name: string) => (await read(name)) === undefined

  describe('remove', () => {
    it('removes the object and returns it', async () => {
      const made = await create('a', { namespace })
      const removed = await opened.resources.remove('Task', { namespace, name: 'a' })
      expect(removed.metadata.uid).toBe(made.metadata.uid)
      expect(await read('a')).toBeUndefined()
      expect(await reasonOf(opened.resources.remove('Task', { namespace, name: 'a' }))).toBe('NotFound')
    })

    it('refuses a stale resourceVersion or another uid [HTTP-039]', async () => {
      const made = await create('a', { namespace })
      const { uid, resourceVersion } = await opened.resources
        .update('Task', {
          ...made,
          spec: { ...made.spec, priority: 1 },
        })
        .then((task) => task.metadata)
      const key = { namespace, name: 'a' }
      const stale = { resourceVersion: made.metadata.resourceVersion }
      expect(await reasonOf(opened.resources.remove('Task', key, stale))).toBe('Conflict')
      expect(await reasonOf(opened.resources.remove('Task', key, { uid: crypto.randomUUID() }))).toBe('Conflict')
      expect(await isAbsent('a')).toBe(false)
      await opened.resources.remove('Task', key, { uid, resourceVersion })
      expect(await isAbsent('a')).toBe(true)
    })
  })

  describe('finalizers', () => {
    it('hold the object back: removal sets deletionTimestamp, once', async () => {
      const made = await create('a', { namespace, finalizers: ['svc.ai/one', 'svc.ai/two'] })
      const first = await opened.resources.remove('Task', { namespace, name: 'a' })
      expect(first.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(first.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
      const second = await opened.resources.remove('Task', { namespace, name: 'a' })
      expect(second).toEqual(first)
      expect(await read('a')).toEqual(first)
    })

    it('let the object go when the last finalizer is removed', async () => {
      await create('a', { namespace, finalizers: ['svc.ai/one', 'svc.ai/two'] })
      const marked = await opened.resources.remove('Task', { namespace, name: 'a' })
      const left = { ...marked, metadata: { ...marked.metadata, finalizers: ['svc.ai/two'] } }
      const held = await opened.resources.update('Task', left)
      expect(held.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp)
      expect(await isAbsent('a')).toBe(false)
      await opened.resources.update('Task', { ...held, metadata: { ...held.metadata, finalizers: [] } })
      expect(await isAbsent('a')).toBe(true)
    })

    it('cannot be added once deletion has begun', async () => {
      await create('a', { namespace, finalizers: ['svc.ai/one'] })
      const marked = await opened.resources.remove('Task', { namespace, name: 'a' })
      const more = { ...marked, metadata: { ...marked.metadata, finalizers: ['svc.ai/one', 'svc.ai/new'] } }
      expect(await reasonOf(opened.resources.update('Task', more))).toBe('InvalidRequest')
    })

    it('can be taken away without deletion, and status can be written during it', async () => {
      const made = await create('a', { namespace, finalizers: ['svc.ai/one'] })
      const free = await opened.resources.update('Task', { ...made, metadata: { ...made.metadata, finalizers: [] } })
      expect(free.metadata.deletionTimestamp).toBeUndefined()
      const back = { ...free, metadata: { ...free.metadata, finalizers: ['svc.ai/one'] } }
      await opened.resources.update('Task', back)
      const marked = await opened.resources.remove('Task', { namespace, name: 'a' })
      const written = await opened.resources.updateStatus('Task', { ...marked, status: { phase: 'Cancelled' } })
      expect(written.status).toEqual({ phase: 'Cancelled' })
      expect(await isAbsent('a')).toBe(false)
    })

    it('keep the name in use', async () => {
      await create('a', { namespace, finalizers: ['svc.ai/one'] })
      await opened.resources.remove('Task', { namespace, name: 'a' })
      expect(await reasonOf(create('a', { namespace }))).toBe('AlreadyExists')
    })
  })

  describe('owners', () => {
    const createOwned = (name: string, owners: Task[], finalizers: string[] = []) =>
      create(name, { namespace, ownerReferences: owners.map(ownedBy), finalizers })

    it('take the objects that they own with them, and what those own', async () => {
      const owner = await create('owner', { namespace })
      const child = await createOwned('child', [owner])
      await createOwned('grandchild', [child])
      await create('bystander', { namespace })
      await opened.resources.remove('Task', { namespace, name: 'owner' })
      await waitFor(async () => (await isAbsent('child')) && (await isAbsent('grandchild')))
      expect(await isAbsent('bystander')).toBe(false)
    })

    it('take many objects with them', async () => {
      const owner = await create('owner', { namespace })
      await Promise.all(Array.from({ length: 130 }, (_, index) => createOwned(`child-${index}`, [owner])))
      await opened.resources.remove('Task', { namespace, name: 'owner' })
      await waitFor(async () => (await opened.resources.list('Task', { namespace })).items.length === 0)
    })

    it('begin the deletion of owned objects that finalizers hold', async () => {
      const owner = await create('owner', { namespace })
      await createOwned('child', [owner], ['svc.ai/one'])
      await opened.resources.remove('Task', { namespace, name: 'owner' })
      await waitFor(async () => (await read('child'))?.metadata.deletionTimestamp !== undefined)
    })

    it('leave objects that still have another owner', async () => {
      const first = await create('first', { namespace })
      const second = await create('second', { namespace })
      await createOwned('shared', [first, second])
      await createOwned('only', [first])
      await opened.resources.remove('Task', { namespace, name: 'first' })
      await waitFor(() => isAbsent('only'))
      await waitFor(async () => (await read('shared'))?.metadata.ownerReferences?.length === 1)
      expect(
        namesOf((await read('shared'))?.metadata.ownerReferences?.map((metadata) => ({ metadata })) ?? []),
      ).toEqual(['second'])
      await opened.resources.remove('Task', { namespace, name: 'second' })
      await waitFor(() => isAbsent('shared'))
    })

    it('are identified by uid, so that a later object of the same name owns nothing of theirs', async () => {
      const owner = await create('owner', { namespace })
      await opened.resources.remove('Task', { namespace, name: 'owner' })
      const successor = await create('owner', { namespace })
      await createOwned('late', [owner])
      await createOwned('child', [successor])
      await waitFor(() => isAbsent('late'))
      expect(await isAbsent('child')).toBe(false)
    })

    it('that wait for finalizers keep the objects that they own until they are gone', async () => {
      const owner = await create('owner', { namespace, finalizers: ['svc.ai/one'] })
      await createOwned('child', [owner])
      const marked = await opened.resources.remove('Task', { namespace, name: 'owner' })
      expect(await isAbsent('child')).toBe(false)
      await opened.resources.update('Task', { ...marked, metadata: { ...marked.metadata, finalizers: [] } })
      await waitFor(() => isAbsent('child'))
    })
  })
}
