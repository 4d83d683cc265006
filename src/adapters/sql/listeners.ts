// Callbacks per task, for those who follow its log or timeline.

export type Listeners = {
  /** Adds a callback; returns the function that takes it away again. */
  add(taskUid: string, listener: () => void): () => void
  notify(taskUid: string): void
}

export function createListeners(): Listeners {
  const byTask = new Map<string, Set<{ call: () => void }>>()
  return {
    add(taskUid, listener) {
      const entry = { call: listener }
      const entries = byTask.get(taskUid) ?? new Set()
      byTask.set(taskUid, entries.add(entry))
      return () => {
        entries.delete(entry)
        if (entries.size === 0 && byTask.get(taskUid) === entries) byTask.delete(taskUid)
      }
    },
    notify(taskUid) {
      for (const entry of [...(byTask.get(taskUid) ?? [])]) entry.call()
    },
  }
}
