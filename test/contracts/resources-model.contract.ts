// Random sequences of operations against a model of a few lines.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import { draftTask, namesOf, type OpenedResources, type OpenResources, reasonOf, type Task } from './resources-bench.ts'

type Model = Map<
  string,
  { team: string; priority: number; iteration?: number; generation: number; held: boolean; dying: boolean }
>

type Operation =
  | { do: 'create'; name: string; team: string; held: boolean }
  | { do: 'update'; name: string; team: string; priority: number; stale: boolean }
  | { do: 'status'; name: string; iteration: number }
  | { do: 'release'; name: string }
  | { do: 'remove'; name: string }
  | { do: 'list'; team: string; limit: number }

const name = fc.constantFrom('a', 'a-b', 'b', 'c')
const team = fc.constantFrom('red', 'blue')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), name, team, held: fc.boolean() }),
  fc.record({
    do: fc.constant('update' as const),
    name,
    team,
    priority: fc.integer({ min: 0, max: 2 }),
    stale: fc.boolean(),
  }),
  fc.record({ do: fc.constant('status' as const), name, iteration: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ do: fc.constant('release' as const), name }),
  fc.record({ do: fc.constant('remove' as const), name }),
  fc.record({ do: fc.constant('list' as const), team, limit: fc.integer({ min: 1, max: 3 }) }),
)

const finalizers = ['svc.ai/held']

/** Runs operations on the store and the model, which must agree about each outcome. */
function createRunner({ resources }: OpenedResources, namespace: string) {
  const model: Model = new Map()
  const olderVersions = new Map<string, string>()

  async function readTask(key: ResourceKey): Promise<Task> {
    const task = await resources.get('Task', key)
    if (task === undefined) throw new Error(`${key.name} is in the model but not in the store`)
    return task
  }

  async function update(step: Operation & { do: 'update' }, key: ResourceKey): Promise<void> {
    const known = model.get(step.name)
    if (known === undefined) return
    const task = await readTask(key)
    const older = olderVersions.get(step.name)
    const isStale = step.stale && older !== undefined && older !== task.metadata.resourceVersion
    const metadata = { ...task.metadata, labels: { team: step.team }, ...(isStale && { resourceVersion: older }) }
    const work = resources.update('Task', { ...task, metadata, spec: { ...task.spec, priority: step.priority } })
    expect(await reasonOf(work)).toBe(isStale ? 'Conflict' : 'none')
    if (isStale) return
    if (known.priority !== step.priority) known.generation += 1
    Object.assign(known, { team: step.team, priority: step.priority })
    olderVersions.set(step.name, task.metadata.resourceVersion)
  }

  async function remove(key: ResourceKey): Promise<void> {
    const known = model.get(key.name)
    expect(await reasonOf(resources.remove('Task', key))).toBe(known === undefined ? 'NotFound' : 'none')
    if (known?.held) known.dying = true
    else model.delete(key.name)
  }

  async function release(key: ResourceKey): Promise<void> {
    const known = model.get(key.name)
    if (known === undefined) return
    const task = await readTask(key)
    await resources.update('Task', { ...task, metadata: { ...task.metadata, finalizers: [] } })
    known.held = false
    if (known.dying) model.delete(key.name)
  }

  async function list(step: Operation & { do: 'list' }): Promise<void> {
    const found: string[] = []
    let token: string | undefined
    do {
      const query = { namespace, labelSelector: `team=${step.team}`, limit: step.limit }
      const page = await resources.list('Task', token === undefined ? query : { ...query, continue: token })
      found.push(...namesOf(page.items))
      token = page.continue
    } while (token !== undefined)
    const expected = [...model].filter(([, known]) => known.team === step.team).map(([key]) => key)
    expect(found).toEqual(expected.sort())
  }

  async function create(step: Operation & { do: 'create' }, key: ResourceKey): Promise<void> {
    const metadata = { namespace, labels: { team: step.team }, finalizers: step.held ? finalizers : [] }
    const draft = draftTask(key.name, { ...metadata, spec: { priority: 0 } })
    const isTaken = model.has(step.name)
    expect(await reasonOf(resources.create('Task', draft))).toBe(isTaken ? 'AlreadyExists' : 'none')
    if (isTaken) return
    model.set(step.name, { team: step.team, priority: 0, generation: 1, held: step.held, dying: false })
    olderVersions.delete(step.name)
  }

  async function writeStatus(step: Operation & { do: 'status' }, key: ResourceKey): Promise<void> {
    const known = model.get(step.name)
    if (known === undefined) return
    await resources.updateStatus('Task', { ...(await readTask(key)), status: { iteration: step.iteration } })
    known.iteration = step.iteration
  }

  async function run(step: Operation): Promise<void> {
    const key = { namespace, name: 'name' in step ? step.name : '' }
    switch (step.do) {
      case 'create':
        return create(step, key)
      case 'update':
        return update(step, key)
      case 'status':
        return writeStatus(step, key)
      case 'release':
        return release(key)
      case 'remove':
        return remove(key)
      default:
        return list(step)
    }
  }

  async function compare(): Promise<void> {
    const { items } = await resources.list('Task', { namespace })
    const stored = items.map(({ metadata, spec, status }) => [
      metadata.name,
      {
        team: metadata.labels?.team,
        priority: spec.priority,
        // The API server raises it when a deletion begins, other stores do not: what is dying is not compared.
        generation: metadata.deletionTimestamp === undefined ? metadata.generation : undefined,
        held: metadata.finalizers !== undefined,
        dying: metadata.deletionTimestamp !== undefined,
        ...(status !== undefined && { iteration: status.iteration }),
      },
    ])
    const expected = [...model].map(([name, known]) => [
      name,
      { ...known, generation: known.dying ? undefined : known.generation },
    ])
    expect(stored).toEqual(expected.sort(([left], [right]) => (String(left) < String(right) ? -1 : 1)))
  }

  /** Whatever the run left, so that the next one, or a shorter one that is to show the same fault, begins with nothing. */
  async function clear(): Promise<void> {
    const { items } = await resources.list('Task', { namespace })
    for (const task of items) {
      await resources.update('Task', { ...task, metadata: { ...task.metadata, finalizers: [] } })
      if (task.metadata.deletionTimestamp === undefined)
        await resources.remove('Task', { namespace, name: task.metadata.name })
    }
  }

  return { run, compare, clear }
}

export function describeResourceModel(open: OpenResources): void {
  let opened: OpenedResources
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  describe('any sequence of operations', () => {
    it('leaves what a simple model says', async () => {
      const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (steps) => {
        const runner = createRunner(opened, opened.namespaces[0])
        try {
          for (const step of steps) await runner.run(step)
          await runner.compare()
        } finally {
          await runner.clear()
        }
      })
      await fc.assert(property, { numRuns: 60 })
    })
  })
}
