// The objects of one kind as the watch told them: in order, by key and by value.
import type { CacheKey, Entry } from './entry.ts'
import { createSortedKeys, type SortedKeys } from './sorted-keys.ts'
import { createValueIndex, type ValueIndex } from './value-index.ts'

export type ToldObjects = {
  get(key: CacheKey): Entry | undefined
  set(entry: Entry): void
  delete(key: CacheKey): void
  replace(entries: Entry[]): void
  keys(): SortedKeys
  index(): ValueIndex
}

export function createToldObjects(): ToldObjects {
  const entries = new Map<CacheKey, Entry>()
  let keys = createSortedKeys([])
  let index = createValueIndex()
  return {
    get: (key) => entries.get(key),
    keys: () => keys,
    index: () => index,
    set(entry) {
      const before = entries.get(entry.key)
      if (before === undefined) keys.add(entry.key)
      else index.remove(before)
      index.add(entry)
      entries.set(entry.key, entry)
    },
    delete(key) {
      const before = entries.get(key)
      if (before === undefined) return
      index.remove(before)
      keys.remove(key)
      entries.delete(key)
    },
    replace(all) {
      entries.clear()
      index = createValueIndex()
      for (const entry of all) {
        entries.set(entry.key, entry)
        index.add(entry)
      }
      keys = createSortedKeys([...entries.keys()].sort())
    },
  }
}
