// Sums of tasks by namespace and value, in memory: their size is that of the distinct values.
import type { Tally, TallyName, TaskTallies } from '../../ports/resources.ts'
import type { IndexEntry } from './stored-object.ts'

type TallyQuery = Parameters<TaskTallies['tallyTasks']>[1]

export type Tallies = {
  /** Adds so many objects of the namespace that have these values. */
  add(namespace: string, entries: readonly IndexEntry[], amount: number): void
  list(name: TallyName, query?: TallyQuery): Tally[]
  clear(): void
}

type Values = Map<string, number>

function addTo(values: Values, value: string, amount: number): void {
  const count = (values.get(value) ?? 0) + amount
  if (count === 0) values.delete(value)
  else values.set(value, count)
}

function listValues(values: Values | undefined, from: string): [string, number][] {
  return [...(values ?? [])].filter(([value]) => value >= from)
}

export function createTallies(): Tallies {
  const byName = new Map<string, Map<string, Values>>()

  function addEntry(namespace: string, { field, value }: IndexEntry, amount: number): void {
    const places = byName.get(field) ?? new Map<string, Values>()
    byName.set(field, places)
    const values = places.get(namespace) ?? new Map<string, number>()
    places.set(namespace, values)
    addTo(values, value, amount)
    if (values.size === 0) places.delete(namespace)
  }

  return {
    add(namespace, entries, amount) {
      for (const entry of entries) addEntry(namespace, entry, amount)
    },
    list(name, { namespaces, from = '' } = {}) {
      const places = byName.get(name)
      if (places === undefined) return []
      return [...(namespaces ?? places.keys())].flatMap((namespace) =>
        listValues(places.get(namespace), from).map(([value, count]) => ({ namespace, value, count })),
      )
    },
    clear: () => byName.clear(),
  }
}
