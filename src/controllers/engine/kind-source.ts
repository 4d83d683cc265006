// Feeds keys from a kind's objects: list, then watch and resume; lists again when the watch is too old, and
// periodically.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceReader, WatchEvent } from '../../ports/resources/resources.ts'
import { type Enqueue, formatKey, type KeySource } from './controller.ts'

/** `LISTED` is an object found by listing; an earlier event may have reported it already. */
export type Observation<R> = { type: WatchEvent<R>['type'] | 'LISTED'; object: R }

type KindSourceOptions<K extends Kind> = {
  kind: K
  resources: ResourceReader
  clock: Clock
  /** Adds the keys that the object affects. */
  onObject(observation: Observation<ResourceOf<K>>, enqueue: Enqueue): void
  /** Lists that are read first, page by page; the whole kind is read after them. */
  first?: Record<string, string>[]
  /** Called after the `first` lists. */
  onFirst?(): void
  /** Which lists are read again every ten minutes; default: the whole kind. */
  resync?: Record<string, string>[]
  pageSize?: number
}

type Reader<K extends Kind> = Pick<KindSourceOptions<K>, 'kind' | 'resources' | 'onObject' | 'pageSize'>

type Lists = (Record<string, string> | undefined)[]

const everything: Lists = [undefined]

/** Reads lists page by page. */
async function readLists<K extends Kind>(reader: Reader<K>, lists: Lists, enqueue: Enqueue, signal: AbortSignal) {
  for (const fields of lists) {
    let token: string | undefined
    do {
      const query = { limit: reader.pageSize ?? 500, fields, continue: token }
      const page = await reader.resources.list(reader.kind, query)
      for (const object of page.items) reader.onObject({ type: 'LISTED', object }, enqueue)
      token = page.continue
    } while (token !== undefined && !signal.aborted)
  }
}

/** Runs all of them until the first fails or the outer signal aborts, then ends the others. */
async function runTogether(outer: AbortSignal, works: ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([outer, failed.signal])
  const running = works.map(async (work) => {
    try {
      await work(signal)
    } catch (error) {
      failed.abort(error)
    }
  })
  await Promise.all(running)
  if (failed.signal.aborted && !outer.aborted) throw failed.signal.reason
}

const resyncMs = 600_000

export function createKindSource<K extends Kind>(options: KindSourceOptions<K>): KeySource {
  const { kind, resources, clock } = options
  let version: string | undefined
  let listed = false
  let term: AbortSignal | undefined

  async function listAll(enqueue: Enqueue, signal: AbortSignal): Promise<void> {
    if (listed) return
    await readLists(options, options.first ?? [], enqueue, signal)
    options.onFirst?.()
    await readLists(options, everything, enqueue, signal)
    listed = true
  }

  async function follow(enqueue: Enqueue, signal: AbortSignal): Promise<void> {
    for await (const event of resources.watch(kind, { resourceVersion: version, signal })) {
      version = event.object.metadata.resourceVersion
      options.onObject(event, enqueue)
    }
    if (!signal.aborted) throw new Error(`the watch of ${kind} ended`)
  }

  function forgetWhenExpired(error: unknown): never {
    if (isSvcError(error, 'Expired')) version = undefined
    throw error
  }

  async function resync(enqueue: Enqueue, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(resyncMs, signal).catch(() => undefined)
      if (!signal.aborted) await readLists(options, options.resync ?? everything, enqueue, signal)
    }
  }

  return {
    name: `watch:${kind}`,
    async run(enqueue, outer) {
      // A new term starts from scratch; within a term the watch resumes where it broke.
      if (term !== outer) version = undefined
      term = outer
      if (version === undefined) {
        // The version is read before the lists, so that the watch repeats changes made meanwhile.
        version = (await resources.list(kind, { limit: 1 })).resourceVersion
        listed = false
      }
      await runTogether(outer, [
        (signal) => follow(enqueue, signal).catch(forgetWhenExpired),
        (signal) => listAll(enqueue, signal),
        (signal) => resync(enqueue, signal),
      ])
    },
  }
}

/** How a controller of another kind watches the tasks that its objects own. */
export type OwnedTasks = {
  /** The label by which a task names its owner, which lies in its own namespace. */
  ownerLabel: string
  /** Which changes concern the owner. */
  concerns(observation: Observation<Task>): boolean
}

/** Adds the key of the owner of each task that changes. */
export function createOwnedTaskSource(
  { resources, clock }: Pick<KindSourceOptions<'Task'>, 'resources' | 'clock'>,
  { ownerLabel, concerns }: OwnedTasks,
): KeySource {
  return createKindSource({
    kind: 'Task',
    resources,
    clock,
    onObject(observation, enqueue) {
      const { namespace, labels } = observation.object.metadata
      const name = labels?.[ownerLabel]
      if (name !== undefined && concerns(observation)) enqueue(formatKey({ namespace, name }))
    },
  })
}
