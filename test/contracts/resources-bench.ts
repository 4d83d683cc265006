// What the suite of resource stores gets, and the objects and waits it is written with.

import type { ResourceOf } from '../../src/contract/kinds/index.ts'
import { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { isSvcError } from '../../src/errors.ts'
import type { ResourceDraft, Resources, WatchEvent, WatchOptions } from '../../src/ports/resources/resources.ts'
import { waitFor } from '../fixtures/time.ts'

export type OpenedResources = {
  resources: Resources
  /** Two namespaces that exist and hold no objects of the service. */
  namespaces: [string, string]
  close(): Promise<void>
}

export type OpenResources = () => Promise<OpenedResources>

export type Task = ResourceOf<'Task'>

type TaskParts = Partial<Omit<ResourceDraft<'Task'>['metadata'], 'name'>> & { spec?: Record<string, unknown> }

/** A valid task with the defaults that a server would fill in. */
export function draftTask(
  name: string,
  { spec, ...metadata }: TaskParts & { namespace: string },
): ResourceDraft<'Task'> {
  return {
    metadata: { name, ...metadata },
    spec: TaskSpec.parse({ type: 'ai', prompt: 'say hello', ...spec }),
  }
}

/** Owner of what it makes, as a reference. */
export function ownedBy(owner: Task) {
  const { name, uid } = owner.metadata
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid }
}

export function namesOf(items: { metadata: { name: string } }[]): string[] {
  return items.map((item) => item.metadata.name)
}

/** Reason of the SvcError that the work rejects with; whatever else it throws goes on. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (isSvcError(error)) return error.reason
    throw error
  }
}

/** A watch that is read in the background. `until` waits for an event. */
export function followTasks(resources: Resources, options: Omit<WatchOptions, 'signal'>) {
  const stop = new AbortController()
  const events: WatchEvent<Task>[] = []
  const ended = (async () => {
    for await (const event of resources.watch('Task', { ...options, signal: stop.signal })) events.push(event)
  })()
  const failed = ended.then(
    () => undefined,
    (error: unknown) => error,
  )
  return {
    events,
    /** The events as text: `ADDED a`, `DELETED a`. */
    log: () => events.map((event) => `${event.type} ${event.object.metadata.name}`),
    until: (type: string, name: string) =>
      waitFor(async () => {
        const error = await Promise.race([failed, Promise.resolve(undefined)])
        if (error !== undefined) throw error
        return events.some((event) => event.type === type && event.object.metadata.name === name)
      }),
    /** Stops the watch and resolves when it has ended. */
    stop: async () => {
      stop.abort()
      await ended
    },
    /** What the watch failed with. */
    failed,
  }
}

/** Reads, changes and writes until no other writer came between. */
export async function changeStatus(
  resources: Resources,
  key: { namespace: string; name: string },
  change: (status: NonNullable<Task['status']>) => NonNullable<Task['status']>,
): Promise<Task> {
  while (true) {
    const task = await resources.get('Task', key)
    if (task === undefined) throw new Error(`${key.name} is gone`)
    try {
      return await resources.updateStatus('Task', { ...task, status: change(task.status ?? {}) })
    } catch (error) {
      if (!isSvcError(error, 'Conflict')) throw error
    }
  }
}
