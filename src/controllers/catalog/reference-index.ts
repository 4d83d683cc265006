// Who names what, so that a change of the one brings the other back into the queue.

export type ReferenceIndex = {
  /** Replaces what the object names. */
  set(key: string, references: string[]): void
  remove(key: string): void
  /** Keys of the objects that name it. */
  find(reference: string): string[]
  clear(): void
}

export function createReferenceIndex(): ReferenceIndex {
  const named = new Map<string, string[]>()
  const namers = new Map<string, Set<string>>()

  function remove(key: string): void {
    for (const reference of named.get(key) ?? []) {
      const keys = namers.get(reference)
      keys?.delete(key)
      if (keys?.size === 0) namers.delete(reference)
    }
    named.delete(key)
  }

  return {
    set(key, references) {
      remove(key)
      named.set(key, references)
      for (const reference of references) {
        const keys = namers.get(reference) ?? new Set()
        namers.set(reference, keys.add(key))
      }
    },
    remove,
    find: (reference) => [...(namers.get(reference) ?? [])],
    clear() {
      named.clear()
      namers.clear()
    },
  }
}

/** In the place of a name: whichever objects of the kind the namespace has. */
export const anyName = '*'

/** Spelling of a reference: the kind (or `Secret`) and the key. */
export function nameReference(kind: string, namespace: string, name: string): string {
  return `${kind}:${namespace}/${name}`
}
