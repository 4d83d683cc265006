// Create, read, update and status writes.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeStatus, draftTask, type OpenedResources, type OpenResources, reasonOf } from './resources-bench.ts'

const texts = [
  'a\0b',
  '😀 e\u0301 \u00e9 ß İ',
  'back\\slash \\u0000',
  'quote \' " ` ? $1 %s',
  'line\r\n\ttab\u2028',
  '',
]

export function describeResourceWrites(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  describe('create', () => {
    it('sets uid, resourceVersion, generation 1 and creationTimestamp in whole seconds, and no status', async () => {
      const draft = draftTask('a', { namespace, labels: { team: 'x' }, annotations: { note: 'y' } })
      const made = await opened.resources.create('Task', draft)
      expect(made).toMatchObject({ apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', spec: draft.spec })
      expect(made.metadata).toMatchObject({ name: 'a', namespace, generation: 1, labels: { team: 'x' } })
      expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      expect(made.metadata.resourceVersion).not.toBe('')
      expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(made.metadata.deletionTimestamp).toBeUndefined()
      expect(made.status).toBeUndefined()
      expect(await opened.resources.get('Task', { namespace, name: 'a' })).toEqual(made)
    })

    it('refuses a name in use, and leaves the object that has it unchanged', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      const again = draftTask('a', { namespace, spec: { prompt: 'another' } })
      expect(await reasonOf(opened.resources.create('Task', again))).toBe('AlreadyExists')
      expect(await opened.resources.get('Task', { namespace, name: 'a' })).toEqual(made)
    })

    it('lets exactly one of many creators of the same name succeed', async () => {
      const creators = Array.from({ length: 20 }, (_, index) =>
        reasonOf(opened.resources.create('Task', draftTask('a', { namespace, spec: { prompt: `by ${index}` } }))),
      )
      const reasons = await Promise.all(creators)
      expect(reasons.filter((reason) => reason === 'none')).toHaveLength(1)
      expect(reasons.filter((reason) => reason === 'AlreadyExists')).toHaveLength(19)
    })

    it('takes the same name in another namespace and for another kind', async () => {
      const [first, second] = opened.namespaces
      await opened.resources.create('Task', draftTask('a', { namespace: first }))
      await opened.resources.create('Task', draftTask('a', { namespace: second }))
      const skill = {
        metadata: { namespace, name: 'a' },
        spec: { description: 'does it', content: { inline: 'text' } },
      }
      await opened.resources.create('Skill', skill as never)
      expect((await opened.resources.get('Skill', { namespace, name: 'a' }))?.kind).toBe('Skill')
      expect((await opened.resources.get('Task', { namespace: second, name: 'a' }))?.metadata.namespace).toBe(second)
    })

    it('gives a new uid and generation when a name is used again', async () => {
      const first = await opened.resources.create('Task', draftTask('a', { namespace }))
      await opened.resources.remove('Task', { namespace, name: 'a' })
      const second = await opened.resources.create('Task', draftTask('a', { namespace }))
      expect(second.metadata.uid).not.toBe(first.metadata.uid)
      expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
      expect(second.metadata.generation).toBe(1)
    })

    it.each(texts)('keeps the text %j as it is', async (text) => {
      const draft = draftTask('a', { namespace, annotations: { note: text }, spec: { prompt: `say ${text}` } })
      await opened.resources.create('Task', draft)
      const task = await opened.resources.get('Task', { namespace, name: 'a' })
      expect(task?.spec.prompt).toBe(`say ${text}`)
      expect(task?.metadata.annotations?.note).toBe(text)
    })

    it('keeps deeply nested values', async () => {
      let affinity: unknown = { leaf: [1, 1.5, -0.25, 1e21, true, null, ''] }
      for (let level = 0; level < 50; level += 1) affinity = level % 2 === 0 ? { level: affinity } : [affinity]
      const draft = draftTask('a', { namespace, spec: { execution: { affinity: { affinity } } } })
      await opened.resources.create('Task', draft)
      const task = await opened.resources.get('Task', { namespace, name: 'a' })
      expect(task?.spec.execution?.affinity).toEqual({ affinity })
    })

    it('is not affected when callers change their objects afterwards', async () => {
      const draft = draftTask('a', { namespace, labels: { team: 'x' } })
      const made = await opened.resources.create('Task', draft)
      draft.spec.prompt = 'changed'
      made.spec.prompt = 'changed'
      const read = await opened.resources.get('Task', { namespace, name: 'a' })
      if (read !== undefined) read.spec.prompt = 'changed'
      expect((await opened.resources.get('Task', { namespace, name: 'a' }))?.spec.prompt).toBe('say hello')
    })

    it('answers undefined for what does not exist', async () => {
      await opened.resources.create('Task', draftTask('a', { namespace }))
      expect(await opened.resources.get('Task', { namespace, name: 'b' })).toBeUndefined()
      expect(await opened.resources.get('Task', { namespace: opened.namespaces[1], name: 'a' })).toBeUndefined()
      expect(await opened.resources.get('Agent', { namespace, name: 'a' })).toBeUndefined()
    })
  })

  describe('update', () => {
    it('replaces the spec and raises generation and resourceVersion', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace, spec: { timeout: '30s' } }))
      const { timeout: _dropped, ...spec } = made.spec
      const updated = await opened.resources.update('Task', { ...made, spec: { ...spec, priority: 7 } })
      expect(updated.spec).toEqual({ ...spec, priority: 7 })
      expect(updated.metadata.generation).toBe(2)
      expect(updated.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
      expect(updated.metadata.uid).toBe(made.metadata.uid)
      expect(await opened.resources.get('Task', { namespace, name: 'a' })).toEqual(updated)
    })

    it('replaces labels and annotations without raising generation', async () => {
      const draft = draftTask('a', { namespace, labels: { team: 'x', old: 'y' }, annotations: { note: 'z' } })
      const made = await opened.resources.create('Task', draft)
      const { annotations: _dropped, ...metadata } = made.metadata
      const updated = await opened.resources.update('Task', {
        ...made,
        metadata: { ...metadata, labels: { team: 'v' } },
      })
      expect(updated.metadata.labels).toEqual({ team: 'v' })
      expect(updated.metadata.annotations).toBeUndefined()
      expect(updated.metadata.generation).toBe(1)
      expect(updated.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
    })

    it('ignores status and what the server sets', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      const updated = await opened.resources.update('Task', {
        ...made,
        metadata: { ...made.metadata, generation: 99, creationTimestamp: '2001-01-01T00:00:00Z', labels: { a: 'b' } },
        status: { phase: 'Succeeded' },
      })
      expect(updated.status).toBeUndefined()
      expect(updated.metadata.generation).toBe(1)
      expect(updated.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp)
    })

    it('refuses a stale resourceVersion and keeps what was written meanwhile [HTTP-039]', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      const other = await opened.resources.update('Task', { ...made, spec: { ...made.spec, priority: 1 } })
      const stale = opened.resources.update('Task', { ...made, spec: { ...made.spec, priority: 2 } })
      expect(await reasonOf(stale)).toBe('Conflict')
      expect(await opened.resources.get('Task', { namespace, name: 'a' })).toEqual(other)
    })

    it('refuses another uid, so that it never changes a later object of the same name', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      await opened.resources.remove('Task', { namespace, name: 'a' })
      await opened.resources.create('Task', draftTask('a', { namespace }))
      const stranger = { ...made, metadata: { ...made.metadata, resourceVersion: '' } }
      expect(await reasonOf(opened.resources.update('Task', stranger))).toBe('Conflict')
      expect(await reasonOf(opened.resources.updateStatus('Task', stranger))).toBe('Conflict')
    })

    it('overwrites any version when no resourceVersion is given', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      await opened.resources.update('Task', { ...made, metadata: { ...made.metadata, labels: { a: 'b' } } })
      const blind = {
        ...made,
        metadata: { ...made.metadata, resourceVersion: '' },
        spec: { ...made.spec, priority: 3 },
      }
      const updated = await opened.resources.update('Task', blind)
      expect(updated.spec.priority).toBe(3)
      expect(updated.metadata.labels).toBeUndefined()
    })

    it('refuses what does not exist', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      const missing = { ...made, metadata: { ...made.metadata, name: 'b', resourceVersion: '', uid: '' } }
      expect(await reasonOf(opened.resources.update('Task', missing))).toBe('NotFound')
      expect(await reasonOf(opened.resources.updateStatus('Task', missing))).toBe('NotFound')
    })

    it('keeps the resourceVersion when nothing changes, whatever the order of keys', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace, labels: { x: '1', y: '2' } }))
      const reordered = {
        ...made,
        metadata: { ...made.metadata, labels: { y: '2', x: '1' } },
        spec: Object.fromEntries(Object.entries(made.spec).reverse()) as typeof made.spec,
      }
      const updated = await opened.resources.update('Task', reordered)
      expect(updated.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
      expect(updated.metadata.generation).toBe(1)
    })
  })

  describe('updateStatus', () => {
    it('replaces status and nothing else', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace, labels: { team: 'x' } }))
      const first = await opened.resources.updateStatus('Task', { ...made, status: { phase: 'Running', attempts: 1 } })
      const second = await opened.resources.updateStatus('Task', {
        ...first,
        metadata: { ...first.metadata, labels: { team: 'other' }, generation: 9 },
        spec: { ...first.spec, priority: 1 },
        status: { phase: 'Failed' },
      })
      expect(second.status).toEqual({ phase: 'Failed' })
      expect(second.spec).toEqual(made.spec)
      expect(second.metadata.labels).toEqual({ team: 'x' })
      expect(second.metadata.generation).toBe(1)
      expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
    })

    it('is kept by a later update of the spec', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      // Of one that has started the spec is fixed.
      const waiting = await opened.resources.updateStatus('Task', {
        ...made,
        status: { phase: 'Pending', message: 'waits' },
      })
      const { status: _left, ...bare } = waiting
      const updated = await opened.resources.update('Task', { ...bare, spec: { ...bare.spec, priority: 1 } })
      expect(updated.status).toEqual({ phase: 'Pending', message: 'waits' })
    })

    it('refuses a stale resourceVersion and keeps it when nothing changes [HTTP-039]', async () => {
      const made = await opened.resources.create('Task', draftTask('a', { namespace }))
      const running = await opened.resources.updateStatus('Task', { ...made, status: { phase: 'Running' } })
      const stale = opened.resources.updateStatus('Task', { ...made, status: { phase: 'Failed' } })
      expect(await reasonOf(stale)).toBe('Conflict')
      const same = await opened.resources.updateStatus('Task', running)
      expect(same.metadata.resourceVersion).toBe(running.metadata.resourceVersion)
    })
  })

  it('loses no write when fifty writers change the same object at once [HTTP-039]', async () => {
    const key = { namespace, name: 'counter' }
    await opened.resources.create('Task', draftTask(key.name, key))
    const increment = () =>
      changeStatus(opened.resources, key, (status) => ({ ...status, attempts: (status.attempts ?? 0) + 1 }))
    await Promise.all(Array.from({ length: 50 }, increment))
    expect((await opened.resources.get('Task', key))?.status?.attempts).toBe(50)
  })
}
