// What changes do to a list that was read: pure, so that ten thousand rows and hundreds of changes a second can be tried.
import { parentOf } from '../../../src/contract/kinds/tasks/family.ts'
import { matchesLabels } from './label-selector.ts'
import type { LiveChange } from './live-changes.ts'
import { namespaceOf, type Summary } from './summary.ts'

export type ListData = {
  items: Summary[]
  /** Cursor of the next page. */
  next: string | undefined
  /** How many objects follow after these, where it is known. */
  remaining: number | undefined
}

type Filter = Readonly<Record<string, unknown>>

/** What a list can be filtered by that a summary shows. Others are answered by reading again. */
const fields: Record<string, (object: Summary) => unknown> = {
  namespace: namespaceOf,
  phase: ({ status }) => status?.phase,
  type: ({ spec }) => spec?.type,
  agent: ({ spec }) => (spec?.agentRef as { name?: string } | undefined)?.name,
  parent: (object) => parentOf(object as Parameters<typeof parentOf>[0])?.name,
}

const notFilters = ['allNamespaces', 'sort', 'view', 'limit']

function passes(object: Summary, name: string, wanted: string): boolean | undefined {
  if (name === 'labelSelector') return matchesLabels(wanted, object.metadata.labels)
  if (name === 'search') return object.metadata.name.toLowerCase().includes(wanted.toLowerCase())
  const read = fields[name]
  return read === undefined ? undefined : wanted.split(',').includes(String(read(object)))
}

/** Whether the object belongs to the list; undefined where it cannot be told. */
export function matches(object: Summary, filter: Filter): boolean | undefined {
  const asked = Object.entries(filter).filter(([name, wanted]) => wanted !== undefined && !notFilters.includes(name))
  const answers = asked.map(([name, wanted]) => passes(object, name, String(wanted)))
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}

type Order = (a: Summary, b: Summary) => number

const byName: Order = (a, b) => compare(namespaceOf(a), namespaceOf(b)) || compare(a.metadata.name, b.metadata.name)
const byAge: Order = (a, b) =>
  compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || compare(a.metadata.uid, b.metadata.uid)

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function orderOf({ sort }: Filter): Order {
  if (sort === 'created') return byAge
  return sort === '-created' ? (a, b) => byAge(b, a) : byName
}

/** Where the object belongs among the items, which are in order. */
function findPlace(items: readonly Summary[], object: Summary, order: Order): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (order(items[middle] as Summary, object) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function insert(items: Summary[], object: Summary, filter: Filter, isWhole: boolean): void {
  const place = findPlace(items, object, orderOf(filter))
  // Beyond what was read it comes with its page.
  if (place < items.length || isWhole) items.splice(place, 0, object)
}

/** The newest state of each object: of several changes to one only the last counts. */
function newest(changes: readonly LiveChange[]): Map<string, LiveChange> {
  return new Map(changes.map((change) => [change.object.metadata.uid, change]))
}

/** The items without those that are gone or match no longer, each in its newest state; takes what it has used. */
function replace(items: readonly Summary[], pending: Map<string, LiveChange>, filter: Filter): Summary[] {
  const kept: Summary[] = []
  for (const item of items) {
    const change = pending.get(item.metadata.uid)
    pending.delete(item.metadata.uid)
    if (change === undefined) kept.push(item)
    else if (change.type !== 'deleted' && matches(change.object, filter) !== false) kept.push(change.object)
  }
  return kept
}

/** The list after the changes; the same one where nothing in it changed; `unknown` where it must be read again. */
export function applyChanges(data: ListData, changes: readonly LiveChange[], filter: Filter): ListData | 'unknown' {
  const pending = newest(changes)
  const before = pending.size
  const items = replace(data.items, pending, filter)
  const added = [...pending.values()].filter(
    ({ type, object }) => type !== 'deleted' && matches(object, filter) !== false,
  )
  if (added.some(({ object }) => matches(object, filter) === undefined)) return 'unknown'
  for (const { object } of added) insert(items, object, filter, data.next === undefined)
  return before === pending.size && added.length === 0 ? data : { ...data, items }
}
