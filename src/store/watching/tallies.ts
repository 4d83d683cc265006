// Sums of tasks by namespace and value, in memory: their size is that of the distinct values.
import type { Tally, TallyName, TallyQuery } from '../../ports/resources/resources.ts'
import type { IndexEntry } from './stored-object.ts'

export type Tallies = {
  /** Adds so many objects of the namespace that have these values. */
  add(namespace: string, entries: readonly IndexEntry[], amount: number): void
  list(name: TallyName, query?: TallyQuery): Tally[]
  clear(): void
}

/** `least`: the value that sorts first; undefined where that is not known. */
type Values = { counts: Map<string, number>; least: string | undefined }

function addTo(values: Values, value: string, amount: number): void {
  const { counts, least } = values
  const count = (counts.get(value) ?? 0) + amount
  if (count !== 0) counts.set(value, count)
  else counts.delete(value)
  if (count === 0 && value === least) values.least = undefined
  else if (count !== 0 && least !== undefined && value < least) values.least = value
}

/** Looked for again only when it is gone: the moments of a long queue are all different. */
function findLeast(values: Values): string | undefined {
  if (values.least !== undefined) return values.least
  for (const value of values.counts.keys()) {
    if (values.least === undefined || value < values.least) values.least = value
  }
  return values.least
}

function listValues(values: Values | undefined, { from = '', least = false }: TallyQuery): [string, number][] {
  if (values === undefined) return []
  if (!least) return [...values.counts].filter(([value]) => value >= from)
  const value = findLeast(values)
  return value === undefined ? [] : [[value, values.counts.get(value) ?? 0]]
}

export function createTallies(): Tallies {
  const byName = new Map<string, Map<string, Values>>()

  function addEntry(namespace: string, { field, value }: IndexEntry, amount: number): void {
    const places = byName.get(field) ?? new Map<string, Values>()
    byName.set(field, places)
    const values = places.get(namespace) ?? { counts: new Map(), least: undefined }
    places.set(namespace, values)
    addTo(values, value, amount)
    if (values.counts.size === 0) places.delete(namespace)
  }

  return {
    add(namespace, entries, amount) {
      for (const entry of entries) addEntry(namespace, entry, amount)
    },
    list(name, query = {}) {
      const places = byName.get(name)
      if (places === undefined) return []
      return [...(query.namespaces ?? places.keys())].flatMap((namespace) =>
        listValues(places.get(namespace), query).map(([value, count]) => ({ namespace, value, count })),
      )
    },
    clear: () => byName.clear(),
  }
}
