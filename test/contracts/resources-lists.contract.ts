// Lists: order, filters, pages and their snapshot.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import type { ResourceQuery } from '../../src/ports/resources/resources.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import {
  changeStatus,
  draftTask,
  namesOf,
  type OpenedResources,
  type OpenResources,
  reasonOf,
  type Task,
} from './resources-bench.ts'

const selectorCases: [selector: string, names: string[]][] = [
  ['', ['a', 'b', 'c', 'd']],
  ['team=red', ['a']],
  ['team==red', ['a']],
  ['team = red ', ['a']],
  ['team=RED', ['b']],
  ['team!=red', ['b', 'c', 'd']],
  ['team in (red, blue)', ['a', 'c']],
  ['team in (red,RED,missing)', ['a', 'b']],
  ['team notin (red,blue)', ['b', 'd']],
  ['team', ['a', 'b', 'c']],
  ['!team', ['d']],
  ['! team', ['d']],
  ['team,size=1', ['a', 'c']],
  ['team!=red,size=1', ['c']],
  ['size=1,team in (blue)', ['c']],
  ['size=', ['d']],
  ['size in (1,)', ['a', 'c', 'd']],
  ['example.com/key=v', ['b']],
  ['size=1,size=2', []],
  ['missing=x', []],
  ['missing!=x', ['a', 'b', 'c', 'd']],
]

const badSelectors = [
  '=x',
  'a=b=c',
  'a in b',
  'a in (b',
  'a in b)',
  'a,',
  ',a',
  'a b',
  'a==!b',
  'a=b c',
  '!',
  '!a=b',
  'a=ü',
  '-a=b',
  '/a',
  `a=${'x'.repeat(64)}`,
]

export function describeResourceLists(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  const create = (name: string, metadata: Partial<Parameters<typeof draftTask>[1]> = {}) =>
    opened.resources.create('Task', draftTask(name, { namespace, ...metadata }))
  const list = (query: ResourceQuery = {}) => opened.resources.list('Task', { namespace, ...query })
  const remove = (name: string) => opened.resources.remove('Task', { namespace, name })

  async function createMany(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `task-${String(index).padStart(3, '0')}`)
    await Promise.all(names.map((name) => create(name)))
    return names
  }

  /** Reads every page; `between` runs before each page but the first. */
  async function readPages(
    query: ResourceQuery,
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<Task[][]> {
    let page = await list(query)
    const pages = [page.items]
    while (page.continue !== undefined) {
      await between()
      page = await list({ ...query, continue: page.continue })
      pages.push(page.items)
    }
    return pages
  }

  describe('list', () => {
    it('is empty, never null, where there is no object', async () => {
      const page = await list()
      expect(page.items).toEqual([])
      expect(page.continue).toBeUndefined()
      expect(page.resourceVersion).not.toBe('')
    })

    it('is in bytewise order of names [HTTP-025]', async () => {
      for (const name of ['b', 'ab', 'a0', 'a', 'a-b', '0', 'a-0']) await create(name)
      expect(namesOf((await list()).items)).toEqual(['0', 'a', 'a-0', 'a-b', 'a0', 'ab', 'b'])
    })

    it('keeps kinds and namespaces apart, and goes over all namespaces in order [HTTP-025]', async () => {
      const [first, second] = [...opened.namespaces].sort()
      const labels = { run: crypto.randomUUID() }
      await create('b', { namespace: second ?? '', labels })
      await create('z', { namespace: first ?? '', labels })
      await create('a', { namespace: second ?? '', labels })
      const all = await opened.resources.list('Task', { labelSelector: `run=${labels.run}` })
      expect(all.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
        `${first}/z`,
        `${second}/a`,
        `${second}/b`,
      ])
      expect(namesOf((await list({ namespace: second ?? '' })).items)).toEqual(['a', 'b'])
      expect((await opened.resources.list('Agent', { namespace })).items).toEqual([])
    })

    it('gives whole objects', async () => {
      await create('a', { labels: { team: 'x' } })
      const written = await changeStatus(opened.resources, { namespace, name: 'a' }, () => ({ phase: 'Running' }))
      expect((await list()).items).toEqual([written])
    })
  })

  describe('pages', () => {
    it('hold each object once and say how many follow', async () => {
      const names = await createMany(7)
      const first = await list({ limit: 3 })
      expect(namesOf(first.items)).toEqual(names.slice(0, 3))
      expect(first.remainingItemCount).toBe(4)
      const second = await list({ limit: 3, continue: first.continue ?? '' })
      expect(namesOf(second.items)).toEqual(names.slice(3, 6))
      expect(second.remainingItemCount).toBe(1)
      expect(second.resourceVersion).toBe(first.resourceVersion)
      const third = await list({ limit: 3, continue: second.continue ?? '' })
      expect(namesOf(third.items)).toEqual(names.slice(6))
      expect(third.continue).toBeUndefined()
      expect(third.remainingItemCount).toBeUndefined()
    })

    it('end without a token when the last page is full', async () => {
      await createMany(4)
      expect((await readPages({ limit: 2 })).map((page) => page.length)).toEqual([2, 2])
      expect((await list({ limit: 4 })).continue).toBeUndefined()
    })

    it('are of one snapshot: objects created, changed or removed later do not show', async () => {
      const names = await createMany(8)
      const before = (await list()).items
      let turn = 0
      const disturb = async () => {
        turn += 1
        await create(`task-00${turn * 2}-new`)
        await changeStatus(opened.resources, { namespace, name: 'task-006' }, () => ({ attempts: turn }))
        if (turn === 1) await Promise.all([remove('task-001'), remove('task-005'), remove('task-007')])
        if (turn === 2) await create('task-007')
      }
      const pages = await readPages({ limit: 2 }, disturb)
      expect(pages.map((page) => page.length)).toEqual([2, 2, 2, 2])
      expect(namesOf(pages.flat())).toEqual(names)
      expect(pages.flat()).toEqual(before)
    })

    it('stay in order after many creations, even when an object on a later page was changed', async () => {
      const names = await createMany(8)
      const first = await list({ limit: 2 })
      for (const name of ['task-001-a', 'task-001-b', 'task-001-c']) await create(name)
      await changeStatus(opened.resources, { namespace, name: 'task-006' }, () => ({ attempts: 1 }))
      const rest = await readPages({ limit: 2, continue: first.continue ?? '' })
      expect(rest.map(namesOf)).toEqual([names.slice(2, 4), names.slice(4, 6), names.slice(6)])
    })

    it('of a filtered list are of one snapshot too', async () => {
      await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => create(name, { labels: { team: 'x' } })))
      const other = await create('e2', { labels: { team: 'y' } })
      const relabel = async (task: Task | undefined, team: string) =>
        task &&
        opened.resources.update('Task', {
          ...task,
          metadata: { ...task.metadata, resourceVersion: '', labels: { team } },
        })
      const pages = await readPages({ limit: 2, labelSelector: 'team=x' }, async () => {
        await relabel(await opened.resources.get('Task', { namespace, name: 'd' }), 'y')
        await relabel(other, 'x')
        if ((await opened.resources.get('Task', { namespace, name: 'f' })) !== undefined) await remove('f')
      })
      expect(pages.map(namesOf)).toEqual([
        ['a', 'b'],
        ['c', 'd'],
        ['e', 'f'],
      ])
      expect(namesOf((await list({ labelSelector: 'team=x' })).items)).toEqual(['a', 'b', 'c', 'e', 'e2'])
    })

    it('show each object that exists all the time exactly once while others write', async () => {
      const names = await createMany(40)
      let isReading = true
      const writers = Array.from({ length: 5 }, async (_, writer) => {
        for (let turn = 0; isReading; turn += 1) {
          const name = `task-0${(turn * 7 + writer) % 40}-w${writer}`
          await create(name)
          await remove(name)
        }
      })
      for (let round = 0; round < 5; round += 1) {
        const found = namesOf((await readPages({ limit: 7 })).flat())
        expect(new Set(found).size).toBe(found.length)
        expect(found.filter((name) => !name.includes('-w'))).toEqual(names)
      }
      isReading = false
      await Promise.all(writers)
    })

    it('refuse a token that is damaged or belongs to another list [HTTP-022, HTTP-025]', async () => {
      await createMany(3)
      const token = (await list({ limit: 1 })).continue ?? ''
      for (const bad of [
        'x',
        '',
        'e30',
        '%%%',
        `${token.slice(0, -8)}AAAA`,
        Buffer.from('{"key":[1,2]}').toString('base64url'),
      ]) {
        expect(await reasonOf(list({ limit: 1, continue: bad })), bad).toBe('InvalidRequest')
      }
      expect(await reasonOf(list({ limit: 1, continue: token, labelSelector: 'a=b' }))).toBe('InvalidRequest')
      expect(await reasonOf(list({ limit: 1, continue: token, fields: { phase: 'Pending' } }))).toBe('InvalidRequest')
      expect(await reasonOf(list({ limit: 1, continue: token, namespace: opened.namespaces[1] }))).toBe(
        'InvalidRequest',
      )
      expect(await reasonOf(opened.resources.list('Agent', { namespace, limit: 1, continue: token }))).toBe(
        'InvalidRequest',
      )
      expect(namesOf((await list({ limit: 2, continue: token })).items)).toEqual(['task-001', 'task-002'])
    })
  })

  const orders = ['created', '-created'] as const
  /** As the store is to order them: its times are whole seconds. */
  function arrange(tasks: Task[], order: (typeof orders)[number]): string[] {
    const key = ({ metadata }: Task) => `${metadata.creationTimestamp} ${metadata.uid}`
    const sorted = tasks.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
    return namesOf(order === 'created' ? sorted : sorted.toReversed())
  }

  describe('in order of creation', () => {
    it.each(orders)('%s, lists hold each object once, over pages of any size', async (sort) => {
      const made: Task[] = []
      for (const name of ['d', 'a', 'f', 'c', 'b', 'e']) made.push(await create(name, { labels: { team: 'x' } }))
      await create('other', { labels: { team: 'y' } })
      const names = arrange(made, sort)
      const labelSelector = 'team=x'
      expect(namesOf((await list({ sort, labelSelector })).items)).toEqual(names)
      for (const limit of [1, 2, 5]) {
        expect(namesOf((await readPages({ sort, labelSelector, limit })).flat())).toEqual(names)
        expect(namesOf((await readPages({ sort, fields: { type: 'ai' }, labelSelector, limit })).flat())).toEqual(names)
      }
      expect(await list({ sort, limit: 3 })).toMatchObject({ remainingItemCount: 4, continue: expect.any(String) })
    })

    it.each(orders)('%s, pages are of one snapshot while objects come, change and go', async (sort) => {
      const names = await createMany(8)
      const before = (await list({ sort })).items
      let turn = 0
      const pages = await readPages({ sort, limit: 2 }, async () => {
        turn += 1
        await create(`late-${turn}`)
        await changeStatus(opened.resources, { namespace, name: 'task-004' }, () => ({ attempts: turn }))
        if (turn === 1) await Promise.all([remove('task-001'), remove('task-005'), remove('task-006')])
        if (turn === 2) await create('task-005')
      })
      expect(pages.map((page) => page.length)).toEqual([2, 2, 2, 2])
      expect(pages.flat()).toEqual(before)
      const now = (await list({ sort })).items
      expect(namesOf(now)).toEqual(arrange(now, sort))
      expect(new Set(namesOf(now))).toEqual(
        new Set([...names.filter((name) => !['task-001', 'task-006'].includes(name)), 'late-1', 'late-2', 'late-3']),
      )
    })

    it('an object that was deleted and created again stands at its new place', async () => {
      const [first] = await createMany(4)
      await remove(first ?? '')
      // Times are of whole seconds, and not every store makes uids in order of time.
      await pause(1100)
      await create(first ?? '')
      expect(namesOf((await list({ sort: '-created', limit: 1 })).items)).toEqual([first])
      expect(namesOf((await list({ sort: 'created' })).items).at(-1)).toBe(first)
    })

    it('has page tokens of its own', async () => {
      await createMany(3)
      const token = (await list({ limit: 1 })).continue ?? ''
      const newest = (await list({ sort: '-created', limit: 1 })).continue ?? ''
      expect(await reasonOf(list({ sort: 'created', limit: 1, continue: newest }))).toBe('InvalidRequest')
      expect(await reasonOf(list({ sort: '-created', limit: 1, continue: token }))).toBe('InvalidRequest')
      expect(await reasonOf(list({ limit: 1, continue: newest }))).toBe('InvalidRequest')
      expect((await list({ sort: 'name', limit: 1, continue: token })).items).toHaveLength(1)
    })
  })

  describe('over several namespaces', () => {
    it('hold the objects of the requested namespaces, in each order and over pages', async () => {
      const [one = '', two = ''] = opened.namespaces.toSorted()
      const labels = { run: crypto.randomUUID() }
      const made: Task[] = []
      for (const [name, where] of [
        ['a', two],
        ['b', one],
        ['c', two],
      ] as const) {
        made.push(await create(name, { namespace: where, labels }))
      }
      const read = async (query: ResourceQuery) => {
        const found: string[] = []
        let next: string | undefined
        do {
          const page = await opened.resources.list('Task', {
            ...query,
            labelSelector: `run=${labels.run}`,
            limit: 1,
            ...(next === undefined ? {} : { continue: next }),
          })
          found.push(...namesOf(page.items))
          next = page.continue
        } while (next !== undefined)
        return found
      }
      expect(await read({ namespaces: [one, two] })).toEqual(['b', 'a', 'c'])
      expect(await read({ namespaces: [two] })).toEqual(['a', 'c'])
      for (const sort of orders) {
        expect(await read({ sort })).toEqual(arrange(made, sort))
        expect(await read({ namespaces: [two], sort })).toEqual(
          arrange(
            made.filter(({ metadata }) => metadata.namespace === two),
            sort,
          ),
        )
      }
      expect(await read({ namespaces: [] })).toEqual([])
    })

    it('show nothing of a namespace that the next page no longer asks for', async () => {
      const [one = '', two = ''] = opened.namespaces.toSorted()
      const labels = { run: crypto.randomUUID() }
      for (const name of ['a', 'b']) await create(name, { namespace: one, labels })
      await create('c', { namespace: two, labels })
      const query = { labelSelector: `run=${labels.run}`, limit: 1 }
      const first = await opened.resources.list('Task', { ...query, namespaces: [one, two] })
      await opened.resources.remove('Task', { namespace: two, name: 'c' })
      const rest = { ...query, limit: 10, namespaces: [one], continue: first.continue ?? '' }
      expect(namesOf((await opened.resources.list('Task', rest)).items)).toEqual(['b'])
    })

    it('are listed as long as they have objects of the kind', async () => {
      expect(await opened.resources.namespacesOf('Task')).not.toContain(namespace)
      await create('a')
      const held = await opened.resources.namespacesOf('Task')
      expect(held).toContain(namespace)
      expect(held).toEqual(held.toSorted())
      expect(await opened.resources.namespacesOf('Agent')).not.toContain(namespace)
      await remove('a')
      await waitFor(async () => !(await opened.resources.namespacesOf('Task')).includes(namespace))
    })
  })

  describe('label selectors', () => {
    it.each(selectorCases)('%j chooses %j', async (labelSelector, names) => {
      await create('a', { labels: { team: 'red', size: '1' } })
      await create('b', { labels: { team: 'RED', size: '2', 'example.com/key': 'v' } })
      await create('c', { labels: { team: 'blue', size: '1' } })
      await create('d', { labels: { size: '' } })
      expect(namesOf((await list({ labelSelector })).items)).toEqual(names)
      expect(namesOf((await readPages({ labelSelector, limit: 1 })).flat())).toEqual(names)
    })

    it.each(badSelectors)('%j is refused', async (labelSelector) => {
      expect(await reasonOf(list({ labelSelector }))).toBe('InvalidRequest')
    })

    it('follow changed labels', async () => {
      const made = await create('a', { labels: { team: 'red', size: '1' } })
      await opened.resources.update('Task', {
        ...made,
        metadata: { ...made.metadata, labels: { team: 'blue', size: '1' } },
      })
      expect((await list({ labelSelector: 'team=red' })).items).toEqual([])
      expect(namesOf((await list({ labelSelector: 'team=blue,size=1' })).items)).toEqual(['a'])
      await remove('a')
      expect((await list({ labelSelector: 'team=blue' })).items).toEqual([])
    })
  })

  describe('fields of tasks', () => {
    it('choose by type, agent and uid [TASK-032]', async () => {
      await create('a', { spec: { type: 'agent', agentRef: { name: 'writer' } } })
      const b = await create('b', { spec: { type: 'agent', agentRef: { name: 'Writer2'.toLowerCase() } } })
      await create('c', { spec: { type: 'container', image: 'busybox', prompt: undefined } })
      expect(namesOf((await list({ fields: { type: 'agent' } })).items)).toEqual(['a', 'b'])
      expect(namesOf((await list({ fields: { agent: 'writer' } })).items)).toEqual(['a'])
      expect(namesOf((await list({ fields: { uid: b.metadata.uid } })).items)).toEqual(['b'])
      expect((await list({ fields: { type: 'container', agent: 'writer' } })).items).toEqual([])
    })

    it('choose by phase, and treat a task without one as Pending [TASK-032]', async () => {
      for (const name of ['a', 'b', 'c']) await create(name)
      await changeStatus(opened.resources, { namespace, name: 'b' }, () => ({ phase: 'Running' }))
      await changeStatus(opened.resources, { namespace, name: 'c' }, () => ({ phase: 'Pending' }))
      expect(namesOf((await list({ fields: { phase: 'Running' } })).items)).toEqual(['b'])
      expect(namesOf((await list({ fields: { phase: 'Pending' } })).items)).toEqual(['a', 'c'])
      expect((await list({ fields: { phase: 'running' } })).items).toEqual([])
    })

    it('choose by any of several phases, page by page [TASK-032]', async () => {
      for (const name of ['a', 'b', 'c', 'd']) await create(name)
      await changeStatus(opened.resources, { namespace, name: 'b' }, () => ({ phase: 'Running' }))
      await changeStatus(opened.resources, { namespace, name: 'c' }, () => ({ phase: 'Failed' }))
      const some = { fields: { phase: ['Pending', 'Running'] } }
      expect(namesOf((await list(some)).items)).toEqual(['a', 'b', 'd'])
      // On a cluster times of creation are whole seconds: these three may be of one.
      expect(namesOf((await list({ ...some, sort: '-created' })).items).toSorted()).toEqual(['a', 'b', 'd'])
      const first = await list({ ...some, limit: 2 })
      const rest = await list({ ...some, limit: 2, continue: first.continue ?? '' })
      expect(namesOf([...first.items, ...rest.items])).toEqual(['a', 'b', 'd'])
      const other = { fields: { phase: ['Failed', 'Running'] }, limit: 2, continue: first.continue ?? '' }
      expect(await reasonOf(list(other))).toBe('InvalidRequest')
      expect(namesOf((await list({ fields: { phase: ['Failed'], type: ['ai', 'agent'] } })).items)).toEqual(['c'])
      expect((await list({ fields: { phase: [] } })).items).toEqual([])
    })

    it('are combined with text in the name, in any case', async () => {
      for (const name of ['nightly-report', 'report-2', 'review']) await create(name)
      await changeStatus(opened.resources, { namespace, name: 'report-2' }, () => ({ phase: 'Running' }))
      expect(namesOf((await list({ search: 'RePort' })).items)).toEqual(['nightly-report', 'report-2'])
      const newest = await list({ search: 'report', sort: '-created' })
      expect(namesOf(newest.items).toSorted()).toEqual(['nightly-report', 'report-2'])
      expect(namesOf((await list({ search: 're', fields: { phase: 'Running' } })).items)).toEqual(['report-2'])
      expect(namesOf((await list({ search: '_' })).items)).toEqual([])
      const first = await list({ search: 'report', limit: 1 })
      expect(namesOf((await list({ search: 'report', limit: 1, continue: first.continue ?? '' })).items)).toEqual([
        'report-2',
      ])
      const mixed = list({ search: 'view', limit: 1, continue: first.continue ?? '' })
      expect(await reasonOf(mixed)).toBe('InvalidRequest')
    })

    it('choose by the owning task, whatever a label says [TASK-032]', async () => {
      const [boss, other] = [await create('boss'), await create('other')]
      const own = ({ metadata: { name, uid } }: typeof boss) => ({
        ownerReferences: [{ apiVersion, kind: 'Task', name, uid, controller: true }],
      })
      await create('a', own(boss))
      await create('b', own(other))
      await create('c', {
        labels: { 'svc.ai/parent-task': 'boss' },
        annotations: { 'svc.ai/parent-task-name': 'boss' },
      })
      expect(namesOf((await list({ fields: { owner: boss.metadata.uid } })).items)).toEqual(['a'])
      expect(namesOf((await list({ fields: { owner: other.metadata.uid, phase: 'Pending' } })).items)).toEqual(['b'])
      expect((await list({ fields: { owner: '' } })).items).toEqual([])
    })

    it('count the current objects of each value', async () => {
      const count = async (field: string, value: string) => (await opened.resources.countBy('Task', field))[value] ?? 0
      const [pending, running] = [await count('phase', 'Pending'), await count('phase', 'Running')]
      for (const name of ['a', 'b', 'c', 'd']) await create(name, { spec: { agentRef: { name: 'counted-one' } } })
      for (const name of ['b', 'c']) {
        await changeStatus(opened.resources, { namespace, name }, () => ({ phase: 'Running' }))
      }
      await opened.resources.remove('Task', { namespace, name: 'c' })
      expect(await count('phase', 'Pending')).toBe(pending + 2)
      expect(await count('phase', 'Running')).toBe(running + 1)
      expect(await count('agent', 'counted-one')).toBe(3)
      expect(await reasonOf(opened.resources.countBy('Task', 'label:team'))).toBe('InvalidRequest')
      expect(await reasonOf(opened.resources.countBy('Agent', 'phase'))).toBe('InvalidRequest')
    })

    it('add up by namespace to the sums that overviews show, whatever is written', async () => {
      const { resources } = opened
      const tally = async (name: Parameters<typeof resources.tallyTasks>[0], from = '') => {
        const sums = await resources.tallyTasks(name, { namespaces: [namespace], from })
        return Object.fromEntries(sums.map(({ value, count }) => [value, count]))
      }
      const a = await create('a', { spec: { agentRef: { name: 'writer' } } })
      expect(await tally('phase')).toEqual({ Pending: 1 })
      for (const name of ['b', 'c', 'd', 'e']) await create(name)
      const waiting = await tally('waitingSince')
      expect(waiting[a.metadata.creationTimestamp]).toBeGreaterThan(0)
      expect(Object.values(waiting).reduce((sum, count) => sum + count)).toBe(5)
      // The one that has waited longest, before and after it goes.
      const longest = () => resources.tallyTasks('waitingSince', { namespaces: [namespace], minOnly: true })
      const firstOf = (moments: Record<string, number>) =>
        Object.entries(moments).toSorted(([x], [y]) => (x < y ? -1 : 1))[0]
      const expectLongest = async () => {
        const [value, count] = firstOf(await tally('waitingSince')) ?? []
        expect(await longest()).toEqual([{ namespace, value, count }])
      }
      await expectLongest()
      for (const name of ['a', 'b', 'c']) {
        await changeStatus(resources, { namespace, name }, () => ({ phase: 'Running' }))
      }
      await expectLongest()
      expect(await tally('runningAgent')).toEqual({ writer: 1, '': 2 })
      const end = (name: string, status: object) =>
        changeStatus(resources, { namespace, name }, () => ({ completionTime: '2026-01-31T14:30:00.000Z', ...status }))
      await end('b', { phase: 'Failed', failureReason: 'TimedOut' })
      await end('c', { phase: 'Succeeded', completionTime: '2026-01-31T13:59:59.999Z' })
      await end('d', { phase: 'Failed', failureReason: 'TimedOut' })
      const failed = { '2026-01-31T14 Failed TimedOut': 2 }
      expect(await tally('ended')).toEqual({ ...failed, '2026-01-31T13 Succeeded ': 1 })
      expect(await tally('ended', '2026-01-31T14')).toEqual(failed)
      await resources.remove('Task', { namespace, name: 'd' })
      await resources.remove('Task', { namespace, name: 'a' })
      expect(await tally('ended', '2026-01-31T14')).toEqual({ '2026-01-31T14 Failed TimedOut': 1 })
      expect(await tally('runningAgent')).toEqual({})
      expect(await tally('phase')).toEqual({ Pending: 1, Failed: 1, Succeeded: 1 })
      expect(await resources.tallyTasks('phase', { namespaces: ['nowhere'] })).toEqual([])
      const everywhere = (await resources.tallyTasks('phase')).filter((sum) => sum.namespace === namespace)
      expect(everywhere).toHaveLength(3)
    })

    it('are refused for a kind that does not have them', async () => {
      expect(await reasonOf(list({ fields: { colour: 'red' } }))).toBe('InvalidRequest')
      expect(await reasonOf(list({ fields: { 'label:team': 'x' } }))).toBe('InvalidRequest')
      expect(await reasonOf(opened.resources.list('Agent', { fields: { phase: 'Pending' } }))).toBe('InvalidRequest')
    })
  })
}
