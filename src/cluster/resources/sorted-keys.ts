// Keys in bytewise order: names are ASCII, so UTF-16 units compare like bytes.
import type { CacheKey } from './entry.ts'

export type SortedKeys = {
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
export function createSortedKeys(sorted: CacheKey[]): SortedKeys {
  /** Index of the first key that is not below. */
  function findPlace(key: CacheKey): number {
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
      const place = findPlace(key)
      if (sorted[place] !== key) sorted.splice(place, 0, key)
    },
    remove(key) {
      const place = findPlace(key)
      if (sorted[place] === key) sorted.splice(place, 1)
    },
    *after(after) {
      let place = after === undefined ? 0 : findPlace(after)
      if (sorted[place] === after) place += 1
      for (; place < sorted.length; place += 1) yield sorted[place] ?? ''
    },
    *before(before) {
      let place = (before === undefined ? sorted.length : findPlace(before)) - 1
      for (; place >= 0; place -= 1) yield sorted[place] ?? ''
    },
    countPrefix: (prefix) => findPlace(`${prefix}\uffff`) - findPlace(prefix),
    size: () => sorted.length,
  }
}
