// Lists in pages over one snapshot: the watch's state, with changes after the snapshot undone.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import type { ResourcePage, ResourceQuery, ResourceText } from '../../ports/resources/resources.ts'
import { checkFields, matchesSearch } from '../../rules/resources/fields.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../../rules/resources/selectors.ts'
import { comparePositions, type ListOrder, type Position } from '../../store/watching/list-order.ts'
import { decodePageToken, encodePageToken, hashFilter, type PageToken } from '../../store/watching/page-token.ts'
import { labelField } from '../../store/watching/stored-object.ts'
import { type CacheEntry, type CacheKey, formatCacheKey, formatMark, formatValue, parseEntry } from './entry.ts'
import type { KindCache } from './kind-cache.ts'

/** How many objects are converted at a time: a long list must not block other requests. */
const batchSize = 250
/** A value that fewer than one in this many objects has is found by its index, others by scanning in order. */
const rareShare = 8

type Filter = {
  namespace: string | undefined
  /** Limits all namespaces to these. */
  namespaces: ReadonlySet<string> | undefined
  names: ReadonlySet<string> | undefined
  order: ListOrder
  search: string | undefined
  /** Pairs of field and value, as `formatValue` makes them; the object must have one of each list. */
  pairs: string[][]
  requirements: LabelRequirement[]
  isFiltering: boolean
}

/** Where a page starts; `remaining` counts the objects from there on, unfiltered. */
type Start = { after: Position | undefined; snapshot: number; remaining: number | undefined; limit: number }

type Gathered = { entries: CacheEntry[]; isCut: boolean }

/** InvalidRequest when the selector or a field is invalid. */
function parseFilter(kind: Kind, query: ResourceQuery): Filter {
  const fields = query.fields ?? {}
  checkFields(kind, fields)
  const requirements = parseLabelSelector(query.labelSelector ?? '')
  const pairs = Object.entries(fields).map(([field, values]) =>
    [values].flat().map((value) => formatValue(field, value)),
  )
  const { namespace, search, sort: order = 'name' } = query
  const namespaces = query.namespaces && new Set(query.namespaces)
  const names = query.names && new Set(query.names)
  const isFiltering = pairs.length + requirements.length > 0 || (namespaces ?? names ?? search) !== undefined
  return { namespace, namespaces, names, search, order, pairs, requirements, isFiltering }
}

function matchesFilter(
  { namespace, namespaces, names, search, pairs, requirements }: Filter,
  entry: CacheEntry | undefined,
): entry is CacheEntry {
  if (entry === undefined) return false
  if (namespace !== undefined && entry.namespace !== namespace) return false
  if (namespaces?.has(entry.namespace) === false || names?.has(entry.name) === false) return false
  if (!matchesSearch(entry.name, search)) return false
  return (
    pairs.every((some) => some.some((pair) => entry.values.includes(pair))) && matchesLabels(requirements, entry.labels)
  )
}

/** Pairs that every match has; one of them may drive the search. */
function listLeads({ pairs, requirements }: Filter): string[] {
  const labels = requirements.flatMap((requirement) => {
    const value = requirement.operator === 'in' && requirement.values.length === 1 ? requirement.values[0] : undefined
    return value === undefined ? [] : [formatValue(labelField(requirement.key), value)]
  })
  return [...pairs.flatMap((some) => (some.length === 1 ? some : [])), ...labels]
}

/** An object's position, and the object as it is listed; undefined when the list did not contain it. */
type Positioned = Position & { entry: CacheEntry | undefined }

function withPosition(entry: CacheEntry): Positioned {
  return { namespace: entry.namespace, name: entry.name, created: entry.created, entry }
}

/** The keys after the position in creation order. */
function* listByCreation({ watched }: KindCache, order: ListOrder, after: Position | undefined): Generator<CacheKey> {
  const mark = after && formatMark({ created: after.created, key: formatCacheKey(after) })
  const marks = order === 'created' ? watched.byCreation().after(mark) : watched.byCreation().before(mark)
  for (const found of marks) yield found.slice(found.indexOf('\0') + 1)
}

/** Keys are sorted by namespace: after this one nothing matches. */
function endOf({ namespace }: Filter): CacheKey {
  return namespace === undefined ? '\uffff' : `${namespace}\0\uffff`
}

function* listByName({ watched }: KindCache, filter: Filter, after: Position | undefined): Generator<CacheKey> {
  const start = filter.namespace === undefined ? undefined : `${filter.namespace}\0`
  const last = after && formatCacheKey(after)
  const end = endOf(filter)
  for (const key of watched.keys().after(start !== undefined && (last === undefined || last < start) ? start : last)) {
    if (key > end) return
    yield key
  }
}

/** Objects that may match, in order, after the position. */
function* listCandidates(cache: KindCache, filter: Filter, after: Position | undefined): Generator<Positioned> {
  const { watched } = cache
  const { order } = filter
  const index = watched.index()
  const [lead] = listLeads(filter).sort((left, right) => index.count(left) - index.count(right))
  if (lead !== undefined && index.count(lead) * rareShare < watched.keys().size()) {
    const compare = comparePositions(order)
    const found = index.keys(lead).flatMap((key) => watched.get(key) ?? [])
    yield* found
      .filter((entry) => after === undefined || compare(entry, after) > 0)
      .sort(compare)
      .map(withPosition)
    return
  }
  const keys = order === 'name' ? listByName(cache, filter, after) : listByCreation(cache, order, after)
  for (const key of keys) {
    const entry = watched.get(key)
    if (entry !== undefined) yield withPosition(entry)
  }
}

/** Merges two sorted runs; where both have an object, the second one's is used. */
function* mergeRuns(
  left: Iterable<Positioned>,
  right: Positioned[],
  compare: (one: Position, other: Position) => number,
): Generator<Positioned> {
  let next = 0
  for (const one of left) {
    let other = right[next]
    while (other !== undefined && compare(other, one) < 0) {
      yield other
      next += 1
      other = right[next]
    }
    if (other !== undefined && compare(other, one) === 0) {
      yield other
      next += 1
    } else yield one
  }
  yield* right.slice(next)
}

/** State at the snapshot of each object that changed after it, in order, after the position. */
function undoChanges(cache: KindCache, filter: Filter, { snapshot, after }: Start): Positioned[] {
  const compare = comparePositions(filter.order)
  const undone = new Map<string, Positioned>()
  for (const change of cache.ring.listSince(snapshot, { kind: cache.kind, namespace: filter.namespace }) ?? []) {
    const { namespace, name, created, before } = change
    // An object that was created again has another position in creation order, but not in name order.
    const key = filter.order === 'name' ? formatCacheKey(change) : formatMark({ created, key: formatCacheKey(change) })
    if (undone.has(key)) continue
    const entry = before === undefined ? undefined : parseEntry(before)
    undone.set(key, { namespace, name, created, entry })
  }
  return [...undone.values()].filter((one) => after === undefined || compare(one, after) > 0).sort(compare)
}

function gather(cache: KindCache, filter: Filter, start: Start): Gathered {
  const candidates = listCandidates(cache, filter, start.after)
  const entries: CacheEntry[] = []
  for (const { entry } of mergeRuns(candidates, undoChanges(cache, filter, start), comparePositions(filter.order))) {
    if (matchesFilter(filter, entry)) entries.push(entry)
    if (entries.length > start.limit) return { entries: entries.slice(0, start.limit), isCut: true }
  }
  return { entries, isCut: false }
}

async function presentAll<R>(entries: CacheEntry[], present: (entry: CacheEntry) => R): Promise<R[]> {
  const items: R[] = []
  for (const entry of entries) {
    items.push(present(entry))
    if (items.length % batchSize === 0) await yieldTurn()
  }
  return items
}

function presentText({ text, version }: CacheEntry): ResourceText {
  return { text, resourceVersion: String(version) }
}

export function createCachePages(cache: KindCache) {
  const { kind, ring, watched } = cache

  function countAll(namespace: string | undefined): number {
    return namespace === undefined ? watched.keys().size() : watched.keys().countPrefix(`${namespace}\0`)
  }

  function startAt(query: ResourceQuery, filter: Filter): Start {
    const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    if (query.continue !== undefined) {
      const { after, snapshot, remaining } = decodePageToken(query.continue, hashFilter(kind, query))
      return { after, snapshot, remaining, limit }
    }
    const remaining = filter.isFiltering ? undefined : countAll(query.namespace)
    return { after: undefined, snapshot: ring.head(), remaining, limit }
  }

  /** The page as of now: nothing is awaited until everything on it is collected. */
  async function readPage<R>(query: ResourceQuery, present: (entry: CacheEntry) => R): Promise<ResourcePage<R>> {
    const filter = parseFilter(kind, query)
    const start = startAt(query, filter)
    const { snapshot, remaining } = start
    const { entries, isCut } = gather(cache, filter, start)
    // The number of further objects is known when the listing is not filtered and its snapshot is not forgotten.
    const isCounted = remaining !== undefined && ring.remembers(snapshot)
    const follows = isCounted ? Math.max(remaining - entries.length, 1) : undefined
    const items = await presentAll(entries, present)
    return { items, resourceVersion: String(snapshot), ...(isCut && makeNext(query, { snapshot, follows }, entries)) }
  }

  /** How the next page is found. */
  function makeNext(
    query: ResourceQuery,
    page: { snapshot: number; follows: number | undefined },
    entries: CacheEntry[],
  ) {
    const { snapshot, follows } = page
    const { namespace = '', name = '', created = '' } = entries.at(-1) ?? {}
    const isByName = (query.sort ?? 'name') === 'name'
    const counted = follows !== undefined
    const after = { namespace, name, created: isByName ? '' : created }
    const token: PageToken = { after, snapshot, ...(counted && { remaining: follows }) }
    return {
      continue: encodePageToken(token, hashFilter(kind, query)),
      ...(counted && { remainingItemCount: follows }),
    }
  }

  /** Own writes appear on a first page, and a page continues where another replica's page ended. */
  async function catchUp(query: ResourceQuery): Promise<void> {
    parseFilter(kind, query)
    if (query.continue === undefined) return cache.settle()
    const { snapshot } = decodePageToken(query.continue, hashFilter(kind, query))
    return cache.waitFor(snapshot)
  }

  return {
    /** The page over what the watch has reported so far. */
    listWatched: (query: ResourceQuery): Promise<ResourcePage<ResourceOf<Kind>>> =>
      readPage(query, ({ text }) => JSON.parse(text)),
    /** The same as text. */
    listTextWatched: (query: ResourceQuery): Promise<ResourcePage<ResourceText>> => readPage(query, presentText),
    async list(query: ResourceQuery): Promise<ResourcePage<ResourceOf<Kind>>> {
      await catchUp(query)
      return readPage(query, ({ text }) => JSON.parse(text))
    },
    async listText(query: ResourceQuery): Promise<ResourcePage<ResourceText>> {
      await catchUp(query)
      return readPage(query, presentText)
    },
  }
}
