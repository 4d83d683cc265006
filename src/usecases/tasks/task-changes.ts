// Tells those who wait for a task of each change of it: one watch of the store for all of them, open while anybody waits.
import type { Clock } from '../../lib/clock.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources/resources.ts'

export type TaskChanges = {
  /**
   * Calls back when the task of this name was created, changed or removed, and whenever a change may have been missed, such as
   * between this call and the first callback; returns the unsubscribe function. Whoever waits reads the task first.
   */
  onChange(key: ResourceKey, listener: () => void): () => void
}

export type TaskChangesDeps = { resources: Pick<ResourceReader, 'list' | 'watch'>; clock: Pick<Clock, 'sleep'> }

/** How long to wait before a watch that broke is opened again. */
const pauseMs = 1000

type Entry = { call: () => void }

function topicOf({ namespace, name }: ResourceKey): string {
  return `${namespace}/${name}`
}

export function createTaskChanges({ resources, clock }: TaskChangesDeps): TaskChanges {
  const byTask = new Map<string, Set<Entry>>()
  let open: AbortController | undefined

  function callAll(): void {
    for (const entries of byTask.values()) for (const { call } of entries) call()
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const { resourceVersion } = await resources.list('Task', { limit: 1 })
    const changes = resources.watch('Task', { resourceVersion, signal })
    // Nothing from here on is missed; what came before may have been.
    callAll()
    for await (const { object } of changes) {
      for (const { call } of byTask.get(topicOf(object.metadata)) ?? []) call()
    }
  }

  async function followOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Whatever ended it, a list says where to go on from.
      await follow(signal).catch(() => undefined)
      if (!signal.aborted) await clock.sleep(pauseMs, signal).catch(() => undefined)
    }
  }

  function remove(topic: string, entry: Entry): void {
    const entries = byTask.get(topic)
    entries?.delete(entry)
    if (entries?.size === 0) byTask.delete(topic)
    if (byTask.size > 0) return
    open?.abort()
    open = undefined
  }

  return {
    onChange(key, listener) {
      const topic = topicOf(key)
      const entry = { call: listener }
      byTask.set(topic, (byTask.get(topic) ?? new Set()).add(entry))
      if (open === undefined) {
        open = new AbortController()
        void followOn(open.signal)
      }
      return () => remove(topic, entry)
    },
  }
}
