// Sums of tasks by namespace and value, in memory: their size is that of the distinct values.
import type { Tally, TallyName, TallyQuery } from '../../ports/resources/resources.ts'
import type { IndexEntry } from './stored-object.ts'

export type Tallies = {
  /** Adds so many objects of the namespace that have these values. */
  add(namespace: string, entries: readonly IndexEntry[], amount: number): void
  list(name: TallyName, query?: TallyQuery): Tally[]
  clear(): void
}

/** `min`: the value that sorts first; undefined where that is not known. */
type Values = { counts: Map<string, number>; min: string | undefined }

function addTo(values: Values, value: string, amount: number): void {
  const { counts, min } = values
  const count = (counts.get(value) ?? 0) + amount
  if (count !== 0) counts.set(value, count)
  else counts.delete(value)
  if (count === 0 && value === min) values.min = undefined
  else if (count !== 0 && min !== undefined && value < min) values.min = value
}

/** Looked for again only when it is gone: the moments of a long queue are all different. */
function findMin(values: Values): string | undefined {
  if (values.min !== undefined) return values.min
  for (const value of values.counts.keys()) {
    if (values.min === undefined || value < values.min) values.min = value
  }
  return values.min
}

function listValues(values: Values | undefined, { from = '', minOnly = false }: TallyQuery): [string, number][] {
  if (values === undefined) return []
  if (!minOnly) return [...values.counts].filter(([value]) => value >= from)
  const value = findMin(values)
  return value === undefined ? [] : [[value, values.counts.get(value) ?? 0]]
}

export function createTallies(): Tallies {
  const byName = new Map<string, Map<string, Values>>()

  function addEntry(namespace: string, { field, value }: IndexEntry, amount: number): void {
    const byNamespace = byName.get(field) ?? new Map<string, Values>()
    byName.set(field, byNamespace)
    const values = byNamespace.get(namespace) ?? { counts: new Map(), min: undefined }
    byNamespace.set(namespace, values)
    addTo(values, value, amount)
    if (values.counts.size === 0) byNamespace.delete(namespace)
  }

  return {
    add(namespace, entries, amount) {
      for (const entry of entries) addEntry(namespace, entry, amount)
    },
    list(name, query = {}) {
      const byNamespace = byName.get(name)
      if (byNamespace === undefined) return []
      return [...(query.namespaces ?? byNamespace.keys())].flatMap((namespace) =>
        listValues(byNamespace.get(namespace), query).map(([value, count]) => ({ namespace, value, count })),
      )
    },
    clear: () => byName.clear(),
  }
}
