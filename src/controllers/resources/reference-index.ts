// Which object refers to which, so that a change of the target puts the referring object back into the queue.

export type ReferenceIndex = {
  /** Replaces the references of the object. */
  set(key: string, references: string[]): void
  remove(key: string): void
  /** Keys of the objects that refer to it. */
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

/** Stands for any object of the kind in the namespace. */
export const anyName = '*'

/** A reference as text: the kind (or `Secret`) and the key. */
export function nameReference(kind: string, namespace: string, name: string): string {
  return `${kind}:${namespace}/${name}`
}
