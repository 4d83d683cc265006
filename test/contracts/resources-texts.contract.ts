// Objects as text: whatever is stored, the text is what the object is when it is stringified, at the same snapshot.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResourcePage, ResourceQuery, ResourceText } from '../../src/ports/resources/resources.ts'
import {
  changeStatus,
  draftTask,
  type OpenedResources,
  type OpenResources,
  reasonOf,
  type Task,
} from './resources-bench.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"iteration":1', '\\', '\u2028', '😀'),
)

/** Parts of a task that hold free text and free JSON, numbers and keys of every sort included. */
const parts = fc.record({
  prompt: text.map((value) => `say ${value}`),
  note: text,
  team: fc.constantFrom('red', 'blue'),
  affinity: fc.dictionary(fc.oneof(text, fc.constantFrom('10', '9', 'b', '__proto__')), fc.jsonValue()),
})

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never

/** The items of a page of objects, as the text of each with its version. */
function toTexts(items: Task[]): ResourceText[] {
  return items.map((task) => ({ text: JSON.stringify(task), resourceVersion: task.metadata.resourceVersion }))
}

export function describeResourceTexts(open: OpenResources): void {
  let opened: OpenedResources
  let namespace: string
  beforeEach(async () => {
    opened = await open()
    namespace = opened.namespaces[0]
  })
  afterEach(() => opened.close())

  const create = (name: string, { prompt, note, team, affinity }: Parts) =>
    opened.resources.create(
      'Task',
      draftTask(name, {
        namespace,
        labels: { team },
        annotations: { 'example.com/note': note },
        spec: { prompt, execution: { affinity } },
      }),
    )
  const list = (query: ResourceQuery = {}) => opened.resources.list('Task', { namespace, ...query })
  const listText = (query: ResourceQuery = {}) => opened.resources.listText('Task', { namespace, ...query })
  const remove = (name: string) => opened.resources.remove('Task', { namespace, name })
  const repaint = async (name: string, team: string) => {
    const task = await opened.resources.get('Task', { namespace, name })
    return task && opened.resources.update('Task', { ...task, metadata: { ...task.metadata, labels: { team } } })
  }

  /** Every page of a list; `disturb` runs before each but the first. */
  async function readPages<R>(
    read: (query: ResourceQuery) => Promise<ResourcePage<R>>,
    query: ResourceQuery,
    disturb: () => Promise<unknown> = async () => undefined,
  ): Promise<ResourcePage<R>[]> {
    let page = await read(query)
    const pages = [page]
    while (page.continue !== undefined) {
      await disturb()
      page = await read({ ...query, continue: page.continue })
      pages.push(page)
    }
    return pages
  }

  /** Tasks a, b, c ...; every third is blue, all but every fourth run. */
  async function createMany(drawn: Parts[]): Promise<void> {
    for (const [index, made] of drawn.entries()) {
      const name = names[index] ?? ''
      await create(name, { ...made, team: index % 3 === 0 ? 'blue' : 'red' })
      if (index % 4 !== 0) await changeStatus(opened.resources, { namespace, name }, () => ({ phase: 'Running' }))
    }
  }

  /** Makes, changes and removes some of those tasks, others each time. */
  function changeSome(made: Parts): () => Promise<void> {
    const teams = ['blue', 'red', 'blue', 'red']
    const others: Record<number, () => Promise<unknown>> = {
      1: () => Promise.all([remove('c'), remove('g')]),
      2: () => create('g', made),
    }
    let turn = 0
    return async () => {
      turn += 1
      await create(`d-${turn}`, made)
      await repaint('e', teams[turn % 4] ?? '')
      await changeStatus(opened.resources, { namespace, name: 'h' }, () => ({ phase: 'Pending', attempts: turn }))
      await others[turn]?.()
    }
  }

  const queries: ResourceQuery[] = [
    { limit: 2 },
    { limit: 2, labelSelector: 'team=red' },
    { limit: 2, labelSelector: 'team!=red' },
    { limit: 2, labelSelector: 'team,team in (red,blue)' },
    { limit: 2, fields: { phase: 'Running', type: 'ai' } },
    {},
  ]

  describe('as text', () => {
    it('an object is what it is when stringified, whatever it holds', async () => {
      const property = fc.asyncProperty(parts, async (drawn) => {
        const made = await create('any', drawn)
        const written = await changeStatus(opened.resources, made.metadata, () => ({ message: drawn.note }))
        const read = await opened.resources.get('Task', made.metadata)
        expect(read).toEqual(written)
        expect(await opened.resources.getText('Task', made.metadata)).toEqual(toTexts([written])[0])
        expect((await listText()).items).toEqual(toTexts([written]))
        await remove('any')
      })
      await fc.assert(property, { numRuns: 50 })
    })

    it('a missing object is undefined, and an invalid query is refused', async () => {
      expect(await opened.resources.getText('Task', { namespace, name: 'missing' })).toBeUndefined()
      expect(await reasonOf(listText({ labelSelector: '=' }))).toBe('InvalidRequest')
      expect(await reasonOf(listText({ fields: { colour: 'red' } }))).toBe('InvalidRequest')
      expect(await reasonOf(listText({ limit: 1, continue: 'x' }))).toBe('InvalidRequest')
    })

    it.each(queries)('pages are those of the list for %j', async (query) => {
      await createMany(fc.sample(parts, 7))
      const objects = await readPages(list, query)
      const texts = await readPages(listText, query)
      expect(texts.map(({ items }) => items)).toEqual(objects.map(({ items }) => toTexts(items)))
      expect(texts.map((page) => page.remainingItemCount)).toEqual(objects.map((page) => page.remainingItemCount))
    })

    it.each(queries)('pages are of one snapshot for %j while their objects change', async (query) => {
      const [later, ...drawn] = fc.sample(parts, 9)
      await createMany(drawn)
      const { limit: _whole, ...unlimited } = query
      const before = toTexts((await list(unlimited)).items)
      const pages = await readPages(listText, query, changeSome(later as Parts))
      expect(pages.flatMap((page) => page.items)).toEqual(before)
      expect(new Set(pages.map((page) => page.resourceVersion)).size).toBe(1)
    })
  })
}
