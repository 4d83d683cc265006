// The objects of one kind as reported by the watch: in order, by key and by value.

import { createTallies, type Tallies } from '../../store/watching/tallies.ts'
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
  tallies: Pick<Tallies, 'list'>
}

export function createToldObjects(): ToldObjects {
  const entries = new Map<CacheKey, Entry>()
  let keys = createSortedKeys([])
  let marks = createSortedKeys([])
  let index = createValueIndex()
  const tallies = createTallies()

  function count(entry: Entry): void {
    index.add(entry)
    tallies.add(entry.namespace, entry.tallies, 1)
  }

  function discount(entry: Entry): void {
    index.remove(entry)
    tallies.add(entry.namespace, entry.tallies, -1)
  }

  return {
    tallies,
    get: (key) => entries.get(key),
    keys: () => keys,
    byCreation: () => marks,
    index: () => index,
    set(entry) {
      const before = entries.get(entry.key)
      if (before === undefined) keys.add(entry.key)
      else discount(before)
      if (before?.created !== entry.created) {
        if (before !== undefined) marks.remove(formatMark(before))
        marks.add(formatMark(entry))
      }
      count(entry)
      entries.set(entry.key, entry)
    },
    delete(key) {
      const before = entries.get(key)
      if (before === undefined) return
      discount(before)
      keys.remove(key)
      marks.remove(formatMark(before))
      entries.delete(key)
    },
    replace(all) {
      entries.clear()
      index = createValueIndex()
      tallies.clear()
      for (const entry of all) {
        entries.set(entry.key, entry)
        count(entry)
      }
      keys = createSortedKeys([...entries.keys()].sort())
      marks = createSortedKeys([...entries.values()].map(formatMark).sort())
    },
  }
}
