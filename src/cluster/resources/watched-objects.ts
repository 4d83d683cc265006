// The objects of one kind as reported by the watch: in order, by key and by value.
import { createTallies, type Tallies } from '../../store/watching/tallies.ts'
import { type CacheEntry, type CacheKey, formatMark } from './entry.ts'

export type WatchedObjects = {
  get(key: CacheKey): CacheEntry | undefined
  set(entry: CacheEntry): void
  delete(key: CacheKey): void
  replace(entries: CacheEntry[]): void
  keys(): SortedKeys
  /** Keys in order of creation, each behind what `formatCreated` made of its object, as `formatMark` writes it. */
  byCreation(): SortedKeys
  index(): ValueIndex
  tallies: Pick<Tallies, 'list'>
}

export function createWatchedObjects(): WatchedObjects {
  const entries = new Map<CacheKey, CacheEntry>()
  let keys = createSortedKeys([])
  let marks = createSortedKeys([])
  let index = createValueIndex()
  const tallies = createTallies()

  function count(entry: CacheEntry): void {
    index.add(entry)
    tallies.add(entry.namespace, entry.tallies, 1)
  }

  function discount(entry: CacheEntry): void {
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

/** Keys in bytewise order: names are ASCII, so UTF-16 units compare like bytes. */
type SortedKeys = {
  add(key: CacheKey): void
  remove(key: CacheKey): void
  /** The keys after `after` (all when absent), in order. */
  after(after: CacheKey | undefined): IterableIterator<CacheKey>
  /** The keys before `before` (all when absent), in reverse order. */
  before(before: CacheKey | undefined): IterableIterator<CacheKey>
  /** How many start with the prefix. */
  countPrefix(prefix: string): number
  size(): number
}

/** Takes over `sorted` as its storage. */
function createSortedKeys(sorted: CacheKey[]): SortedKeys {
  /** Index of the first key that is not below. */
  function findIndex(key: CacheKey): number {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((sorted[middle] ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(key) {
      const index = findIndex(key)
      if (sorted[index] !== key) sorted.splice(index, 0, key)
    },
    remove(key) {
      const index = findIndex(key)
      if (sorted[index] === key) sorted.splice(index, 1)
    },
    *after(after) {
      let index = after === undefined ? 0 : findIndex(after)
      if (sorted[index] === after) index += 1
      for (; index < sorted.length; index += 1) yield sorted[index] ?? ''
    },
    *before(before) {
      let index = (before === undefined ? sorted.length : findIndex(before)) - 1
      for (; index >= 0; index -= 1) yield sorted[index] ?? ''
    },
    countPrefix: (prefix) => findIndex(`${prefix}\uffff`) - findIndex(prefix),
    size: () => sorted.length,
  }
}

/** Which objects have a value. In a big store most values belong to one object, so a single key needs no set. */
type ValueIndex = {
  add(entry: CacheEntry): void
  remove(entry: CacheEntry): void
  /** For a pair of field and value from `formatValue`. */
  count(pair: string): number
  keys(pair: string): CacheKey[]
  /** How many objects have each value of a field. */
  countBy(field: string): Record<string, number>
}

type Holders = CacheKey | Set<CacheKey>

function sizeOf(holders: Holders | undefined): number {
  if (holders === undefined) return 0
  return typeof holders === 'string' ? 1 : holders.size
}

/** Field and value of a pair as `formatValue` made it. */
function splitPair(pair: string): [field: string, value: string] {
  const end = pair.indexOf('\0')
  return [pair.slice(0, end), pair.slice(end + 1)]
}

function createValueIndex(): ValueIndex {
  const byField = new Map<string, Map<string, Holders>>()

  function find(pair: string): Holders | undefined {
    const [field, value] = splitPair(pair)
    return byField.get(field)?.get(value)
  }

  function addKey(pair: string, key: CacheKey): void {
    const [field, value] = splitPair(pair)
    const values = byField.get(field) ?? new Map<string, Holders>()
    byField.set(field, values)
    const holders = values.get(value)
    if (holders === undefined) values.set(value, key)
    else if (typeof holders === 'string') values.set(value, new Set([holders, key]))
    else holders.add(key)
  }

  function removeKey(pair: string, key: CacheKey): void {
    const [field, value] = splitPair(pair)
    const holders = byField.get(field)?.get(value)
    if (typeof holders === 'object') holders.delete(key)
    if (holders === key || sizeOf(holders) === 0) byField.get(field)?.delete(value)
  }

  return {
    add: (entry) => {
      for (const pair of entry.values) addKey(pair, entry.key)
    },
    remove: (entry) => {
      for (const pair of entry.values) removeKey(pair, entry.key)
    },
    count: (pair) => sizeOf(find(pair)),
    keys: (pair) => {
      const holders = find(pair)
      if (holders === undefined) return []
      return typeof holders === 'string' ? [holders] : [...holders]
    },
    countBy: (field) => {
      const counted = [...(byField.get(field) ?? [])]
      return Object.fromEntries(counted.map(([value, holders]) => [value, sizeOf(holders)]))
    },
  }
}
