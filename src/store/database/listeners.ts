// Callbacks per topic, such as a task, and hooks that run after a commit.
import type { Database, Tx } from './database.ts'

export type Listeners<Note> = {
  /** Adds a callback; returns the function that removes it. */
  add(topic: string, listener: (note: Note) => void): () => void
  notify(topic: string, note: Note): void
  /** Notifies everybody, whatever their topic. */
  notifyAll(note: Note): void
}

/** Listeners that are notified of commits by any process on the database. */
export type SharedListeners = {
  add(topic: string, listener: () => void): () => void
  /** Notifies them once the unit of work is committed. */
  announce(tx: Tx, topic: string): void
}

export function createListeners<Note = void>(): Listeners<Note> {
  const byTopic = new Map<string, Set<{ call: (note: Note) => void }>>()
  return {
    add(topic, listener) {
      const entry = { call: listener }
      const entries = byTopic.get(topic) ?? new Set()
      byTopic.set(topic, entries.add(entry))
      return () => {
        entries.delete(entry)
        if (entries.size === 0 && byTopic.get(topic) === entries) byTopic.delete(topic)
      }
    },
    notify(topic, note) {
      for (const entry of [...(byTopic.get(topic) ?? [])]) entry.call(note)
    },
    notifyAll(note) {
      for (const entry of [...byTopic.values()].flatMap((entries) => [...entries])) entry.call(note)
    },
  }
}

export function createSharedListeners(database: Database, channel: string): SharedListeners {
  const listeners = createListeners()
  database.listen(channel, (topic) => (topic === undefined ? listeners.notifyAll() : listeners.notify(topic)))
  return { add: listeners.add, announce: (tx, topic) => tx.announce(channel, topic) }
}

/** Runs a hook whose failure must not reach the writers: what they wrote is durable. */
export function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
