// Which objects have a value. In a big store most values belong to one object, so a single key needs no set.
import type { CacheKey, Entry } from './entry.ts'

export type ValueIndex = {
  add(entry: Entry): void
  remove(entry: Entry): void
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

export function createValueIndex(): ValueIndex {
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
