// Watches as text: several kinds in one stream, and the position that another watch goes on from.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TaskPhase } from '../../src/contract/kinds/tasks/task.ts'
import type { TextChange, TextWatchOptions } from '../../src/ports/resources/resources.ts'
import { waitFor } from '../fixtures/time.ts'
import { changeStatus, draftTask, type OpenedResources, type OpenResources } from './resources-bench.ts'

export function describeResourceTextWatches(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  const createTask = (name: string, where = namespace) =>
    opened.resources.create('Task', draftTask(name, { namespace: where }))
  const createAgent = (name: string) =>
    opened.resources.create('Agent', { metadata: { namespace, name }, spec: {} as never })

  function follow(options: Partial<TextWatchOptions>) {
    const stop = new AbortController()
    const watch = opened.resources.watchText({ kinds: ['Task', 'Agent'], ...options, signal: stop.signal })
    const told: (TextChange | 'synced')[] = []
    const ended = (async () => {
      for await (const change of watch) told.push(change)
    })()
    const log = () => told.map((one) => (one === 'synced' ? one : `${one.type} ${one.kind} ${one.name}`))
    return {
      told,
      log,
      position: () => watch.position(),
      until: (line: string) => waitFor(() => log().includes(line), line),
      stop: async () => {
        stop.abort()
        await ended
      },
    }
  }

  describe('a watch as text', () => {
    it('begins with each object of its kinds, then reports changes, each object as a read returns it', async () => {
      await createAgent('a')
      await createTask('b')
      await createTask('other', opened.namespaces[1])
      const watch = follow({ namespaces: [namespace] })
      await watch.until('synced')
      expect(watch.log()).toEqual(['ADDED Task b', 'ADDED Agent a', 'synced'])
      const changed = await changeStatus(opened.resources, { namespace, name: 'b' }, () => ({ phase: 'Running' }))
      await opened.resources.remove('Agent', { namespace, name: 'a' })
      await watch.until('MODIFIED Task b')
      await watch.until('DELETED Agent a')
      const told = watch.told.find((one) => one !== 'synced' && one.type === 'MODIFIED') as TextChange
      expect(JSON.parse(told.object)).toEqual(changed)
      await watch.stop()
    })

    it('without what is present begins with `synced`, and misses nothing that is written after it', async () => {
      await createTask('before')
      const watch = follow({ namespaces: [namespace], present: false })
      await watch.until('synced')
      await createTask('after')
      await watch.until('ADDED Task after')
      expect(watch.log()).toEqual(['synced', 'ADDED Task after'])
      const next = follow({ namespaces: [namespace], present: false, after: watch.position() ?? '' })
      await createTask('later')
      await next.until('ADDED Task later')
      // Where kinds are not told in one order, changes may come twice; what was present still does not begin it.
      expect(next.log()).not.toContain('synced')
      expect(next.log().at(-1)).toBe('ADDED Task later')
      await watch.stop()
      await next.stop()
    })

    it('with filters begins with the matching objects, then reports what starts and stops matching', async () => {
      const setPhase = (name: string, phase: TaskPhase) =>
        changeStatus(opened.resources, { namespace, name }, () => ({ phase }))
      for (const name of ['a', 'b', 'c']) await createTask(name)
      await createTask('a', opened.namespaces[1])
      await setPhase('a', 'Running')
      const kinds = ['Task'] as const
      const running = follow({ kinds, namespaces: [namespace], fields: { phase: 'Running' } })
      const named = follow({ kinds, namespaces: [...opened.namespaces], names: ['a', 'c'] })
      for (const watch of [running, named]) await watch.until('synced')
      expect(running.log()).toEqual(['ADDED Task a', 'synced'])
      expect(named.log().toSorted()).toEqual(['ADDED Task a', 'ADDED Task a', 'ADDED Task c', 'synced'])
      await setPhase('b', 'Running')
      await setPhase('a', 'Succeeded')
      await setPhase('c', 'Failed')
      await opened.resources.remove('Task', { namespace, name: 'b' })
      await running.until('DELETED Task b')
      await named.until('MODIFIED Task c')
      expect(running.log().slice(2)).toEqual(['ADDED Task b', 'DELETED Task a', 'DELETED Task b'])
      expect(named.log().slice(4)).toEqual(['MODIFIED Task a', 'MODIFIED Task c'])
      for (const watch of [running, named]) await watch.stop()
    })

    it('with text or several phases begins with what matches, then reports what does', async () => {
      const setPhase = (name: string, phase: TaskPhase) =>
        changeStatus(opened.resources, { namespace, name }, () => ({ phase }))
      for (const name of ['report-a', 'report-b', 'other']) await createTask(name)
      const options = { kinds: ['Task'] as const, namespaces: [namespace] }
      const watch = follow({ ...options, search: 'Report', fields: { phase: ['Pending', 'Failed'] } })
      await watch.until('synced')
      expect(watch.log().toSorted()).toEqual(['ADDED Task report-a', 'ADDED Task report-b', 'synced'])
      await setPhase('other', 'Failed')
      await setPhase('report-a', 'Running')
      await setPhase('report-b', 'Failed')
      await watch.until('MODIFIED Task report-b')
      expect(watch.log().slice(3)).toEqual(['DELETED Task report-a', 'MODIFIED Task report-b'])
      await watch.stop()
    })

    it('refuses a field that one of its kinds does not have', () => {
      const signal = new AbortController().signal
      const options = { kinds: ['Task', 'Agent'] as const, fields: { phase: 'Running' }, signal }
      expect(() => opened.resources.watchText(options)).toThrow('Agent cannot be filtered by "phase"')
    })

    it('has a position from which another watch misses nothing, even when a kind was quiet', async () => {
      const first = follow({ namespaces: [namespace] })
      await first.until('synced')
      await createTask('a')
      await createTask('b')
      await first.until('ADDED Task b')
      const position = first.position() ?? ''
      await first.stop()
      expect(Number(position)).toBeGreaterThan(0)
      await createAgent('c')
      await createTask('d')
      const second = follow({ namespaces: [namespace], after: position })
      await second.until('ADDED Agent c')
      await second.until('ADDED Task d')
      expect(second.log()).not.toContain('synced')
      await waitFor(() => Number(second.position()) >= Number(position))
      await second.stop()
    })

    it('misses nothing while many write, in several watches at once', async () => {
      const watches = [follow({}), follow({ namespaces: [...opened.namespaces] }), follow({ namespaces: [namespace] })]
      const writes = Array.from({ length: 10 }, (_, index) => [createTask(`t-${index}`), createAgent(`a-${index}`)])
      const made = await Promise.all<{ kind: string; metadata: { name: string } }>(writes.flat())
      for (const watch of watches) {
        for (const { kind, metadata } of made) await watch.until(`ADDED ${kind} ${metadata.name}`)
        const names = watch.told.flatMap((one) => (one !== 'synced' && one.namespace === namespace ? [one.name] : []))
        expect(new Set(names).size).toBe(names.length)
        await watch.stop()
      }
    })

    it('refuses a malformed position', () => {
      for (const after of ['x', '-1', '1.5']) {
        const options = { kinds: ['Task'] as const, after, signal: new AbortController().signal }
        expect(() => opened.resources.watchText(options)).toThrow('not one that this service gave')
      }
    })
  })
}
