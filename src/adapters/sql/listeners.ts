// Callbacks per topic, such as a task, for those who follow what is said of it.

export type Listeners<Note> = {
  /** Adds a callback; returns the function that takes it away again. */
  add(topic: string, listener: (note: Note) => void): () => void
  notify(topic: string, note: Note): void
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
  }
}
