// Watches: the initial listing, the order of changes, resuming and ending.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeStatus, draftTask, followTasks, type OpenedResources, type OpenResources } from './resources-bench.ts'

export function describeResourceWatches(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  const create = (name: string, metadata: Partial<Parameters<typeof draftTask>[1]> = {}) =>
    opened.resources.create('Task', draftTask(name, { namespace, ...metadata }))
  const remove = (name: string) => opened.resources.remove('Task', { namespace, name })
  const setPhase = (name: string, phase: 'Running' | 'Succeeded') =>
    changeStatus(opened.resources, { namespace, name }, () => ({ phase }))

  describe('watch', () => {
    it('begins with an ADDED for each existing object, then reports each change in order', async () => {
      await create('a')
      await create('b')
      const watch = followTasks(opened.resources, { namespace })
      await watch.until('ADDED', 'b')
      await create('c')
      await setPhase('a', 'Running')
      await setPhase('a', 'Succeeded')
      await remove('b')
      await watch.until('DELETED', 'b')
      await watch.stop()
      expect(watch.log()).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'MODIFIED a', 'MODIFIED a', 'DELETED b'])
      expect(watch.events.map(({ object }) => object.status?.phase).slice(3, 5)).toEqual(['Running', 'Succeeded'])
    })

    it('reports the object as a read returns it, and in DELETED its last state', async () => {
      const watch = followTasks(opened.resources, { namespace })
      const made = await create('a', { labels: { team: 'x' } })
      const running = await setPhase('a', 'Running')
      await remove('a')
      await watch.until('DELETED', 'a')
      await watch.stop()
      expect(watch.events[0]?.object).toEqual(made)
      expect(watch.events[1]?.object).toEqual(running)
      expect(watch.events[2]?.object).toMatchObject({ spec: made.spec, status: { phase: 'Running' } })
      expect(watch.events[2]?.object.metadata.uid).toBe(made.metadata.uid)
    })

    it('continues after the version of a list, or of an object', async () => {
      await create('a')
      const { resourceVersion } = await opened.resources.list('Task', { namespace })
      const b = await create('b')
      await create('c')
      const fromList = followTasks(opened.resources, { namespace, resourceVersion })
      const fromObject = followTasks(opened.resources, { namespace, resourceVersion: b.metadata.resourceVersion })
      await fromList.until('ADDED', 'c')
      await fromObject.until('ADDED', 'c')
      await create('d')
      await fromList.until('ADDED', 'd')
      await fromObject.until('ADDED', 'd')
      await Promise.all([fromList.stop(), fromObject.stop()])
      expect(fromList.log()).toEqual(['ADDED b', 'ADDED c', 'ADDED d'])
      expect(fromObject.log()).toEqual(['ADDED c', 'ADDED d'])
    })

    it('sees one namespace, or all', async () => {
      const { resourceVersion } = await opened.resources.list('Task', {})
      const one = followTasks(opened.resources, { namespace, resourceVersion })
      const all = followTasks(opened.resources, { resourceVersion })
      await create('elsewhere', { namespace: opened.namespaces[1] })
      await create('here')
      await one.until('ADDED', 'here')
      await all.until('ADDED', 'here')
      await Promise.all([one.stop(), all.stop()])
      expect(one.log()).toEqual(['ADDED here'])
      const ours = all.events.filter(({ object }) => opened.namespaces.includes(object.metadata.namespace))
      expect(ours.map(({ object }) => object.metadata.name)).toEqual(['elsewhere', 'here'])
    })

    it('reports no other kinds, and no writes that change nothing', async () => {
      const made = await create('a')
      const { resourceVersion } = await opened.resources.list('Task', { namespace })
      const watch = followTasks(opened.resources, { namespace, resourceVersion })
      const skill = { metadata: { namespace, name: 's' }, spec: { description: 'd', content: { inline: 'x' } } }
      await opened.resources.create('Skill', skill as never)
      await opened.resources.update('Task', made)
      await create('end')
      await watch.until('ADDED', 'end')
      await watch.stop()
      expect(watch.log()).toEqual(['ADDED end'])
    })

    it('reports a deletion that waits for finalizers as MODIFIED, then as DELETED', async () => {
      await create('a', { finalizers: ['svc.ai/one'] })
      const watch = followTasks(opened.resources, { namespace })
      await watch.until('ADDED', 'a')
      const marked = await remove('a')
      await opened.resources.update('Task', { ...marked, metadata: { ...marked.metadata, finalizers: [] } })
      await watch.until('DELETED', 'a')
      await watch.stop()
      expect(watch.log()[1]).toBe('MODIFIED a')
      expect(watch.events[1]?.object.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp)
    })

    it('misses nothing and repeats nothing while many write, for each of several watchers', async () => {
      const { resourceVersion } = await opened.resources.list('Task', { namespace })
      const watches = [1, 2, 3].map(() => followTasks(opened.resources, { namespace, resourceVersion }))
      const names = Array.from({ length: 60 }, (_, index) => `task-${index}`)
      await Promise.all(
        names.map((name) =>
          create(name)
            .then(() => setPhase(name, 'Running'))
            .then(() => remove(name)),
        ),
      )
      await create('end')
      for (const watch of watches) {
        await watch.until('ADDED', 'end')
        await watch.stop()
        expect(watch.log()).toEqual(watches[0]?.log())
        for (const name of names) {
          const own = watch.log().filter((line) => line.endsWith(` ${name}`))
          expect(own).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`])
        }
      }
    })

    it('joins its listing and its changes without a gap while others write', async () => {
      let isWriting = true
      const writer = (async () => {
        for (let turn = 0; isWriting; turn += 1) {
          await create(`task-${turn}`)
          if (turn % 3 === 0) await remove(`task-${turn}`)
        }
      })()
      for (let round = 0; round < 5; round += 1) {
        const watch = followTasks(opened.resources, { namespace })
        const marker = `marker-${round}`
        await create(marker)
        await watch.until('ADDED', marker)
        await watch.stop()
        const added = watch.events.filter(({ type }) => type === 'ADDED').map(({ object }) => object.metadata.uid)
        expect(new Set(added).size).toBe(added.length)
      }
      isWriting = false
      await writer
    })

    it('ends when its signal aborts, before or while it waits', async () => {
      const early = new AbortController()
      early.abort()
      for await (const event of opened.resources.watch('Task', { namespace, signal: early.signal }))
        expect(event).toBeUndefined()
      const watch = followTasks(opened.resources, { namespace })
      await create('a')
      await watch.until('ADDED', 'a')
      await watch.stop()
      await create('b')
      expect(watch.log()).toEqual(['ADDED a'])
    })
  })
}
