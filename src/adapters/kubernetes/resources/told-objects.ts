// The objects of one kind as reported by the watch: in order, by key and by value.
import { type CacheKey, type Entry, formatMark } from './entry.ts'
import { createSortedKeys, type SortedKeys } from './sorted-keys.ts'
import { createValueIndex, type ValueIndex } from './value-index.ts'

export type ToldObjects = {
  get(key: CacheKey): Entry | undefined
  set(entry: Entry): void
  delete(key: CacheKey): void
  replace(entries: Entry[]): void
  keys(): SortedKeys
  /** Keys in order of creation, each behind what `formatCreated` made of its object, as `formatMark` writes it. */
  byCreation(): SortedKeys
  index(): ValueIndex
}

export function createToldObjects(): ToldObjects {
  const entries = new Map<CacheKey, Entry>()
  let keys = createSortedKeys([])
  let marks = createSortedKeys([])
  let index = createValueIndex()
  return {
    get: (key) => entries.get(key),
    keys: () => keys,
    byCreation: () => marks,
    index: () => index,
    set(entry) {
      const before = entries.get(entry.key)
      if (before === undefined) keys.add(entry.key)
      else index.remove(before)
      if (before?.created !== entry.created) {
        if (before !== undefined) marks.remove(formatMark(before))
        marks.add(formatMark(entry))
      }
      index.add(entry)
      entries.set(entry.key, entry)
    },
    delete(key) {
      const before = entries.get(key)
      if (before === undefined) return
      index.remove(before)
      keys.remove(key)
      marks.remove(formatMark(before))
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
      marks = createSortedKeys([...entries.values()].map(formatMark).sort())
    },
  }
}
