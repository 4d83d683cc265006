// Lists in pages over one snapshot: what the watch told, with the changes after the snapshot undone.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Kind, ResourceOf } from '../../../contract/resources/index.ts'
import type { ListQuery, ResourcePage, ResourceText } from '../../../ports/resources.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../../../rules/label-selector.ts'
import { checkFields } from '../../../rules/resource-fields.ts'
import { decodePageToken, encodePageToken, hashFilter, type PageToken } from '../../resource-store/page-token.ts'
import { labelField } from '../../resource-store/stored-object.ts'
import { type CacheKey, type Entry, formatKey, formatValue, parseEntry } from './entry.ts'
import type { KindCache } from './kind-cache.ts'

/** Objects made into items at a time: a long list must not hold up the requests of others. */
const batchSize = 250
/** A value that fewer than one in so many objects have is searched by its index, others by walking in order. */
const rareShare = 8

type Filter = {
  namespace: string | undefined
  /** Pairs of field and value that the object has, as `formatValue` makes them. */
  pairs: string[]
  requirements: LabelRequirement[]
  isFiltering: boolean
}

/** Where a page starts; `remaining` counts what there is from there on, unfiltered. */
type Start = { after: CacheKey | undefined; snapshot: number; remaining: number | undefined; limit: number }

type Gathered = { entries: Entry[]; isCut: boolean }

/** InvalidRequest when the selector or a field is not understood. */
function parseFilter(kind: Kind, query: ListQuery): Filter {
  const fields = query.fields ?? {}
  checkFields(kind, fields)
  const requirements = parseLabelSelector(query.labelSelector ?? '')
  const pairs = Object.entries(fields).map(([field, value]) => formatValue(field, value))
  return { namespace: query.namespace, pairs, requirements, isFiltering: pairs.length + requirements.length > 0 }
}

function matchesFilter({ namespace, pairs, requirements }: Filter, entry: Entry | undefined): entry is Entry {
  if (entry === undefined) return false
  if (namespace !== undefined && entry.namespace !== namespace) return false
  return pairs.every((pair) => entry.values.includes(pair)) && matchesLabels(requirements, entry.labels)
}

/** Pairs that every match has, one of which may lead the search. */
function listLeads({ pairs, requirements }: Filter): string[] {
  const labels = requirements.flatMap((requirement) => {
    const value = requirement.operator === 'in' && requirement.values.length === 1 ? requirement.values[0] : undefined
    return value === undefined ? [] : [formatValue(labelField(requirement.key), value)]
  })
  return [...pairs, ...labels]
}

/** Keys that may match, in order, from after the given one on. */
function listCandidates({ told }: KindCache, filter: Filter, after: CacheKey | undefined): Iterable<CacheKey> {
  const keys = told.keys()
  const index = told.index()
  const [lead] = listLeads(filter).sort((left, right) => index.count(left) - index.count(right))
  if (lead !== undefined && index.count(lead) * rareShare < keys.size()) {
    const found = index.keys(lead).sort()
    return after === undefined ? found : found.filter((key) => key > after)
  }
  const start = filter.namespace === undefined ? undefined : `${filter.namespace}\0`
  return keys.after(start !== undefined && (after === undefined || after < start) ? start : after)
}

/** Two ordered runs of keys as one, each key once. */
function* mergeKeys(left: Iterable<CacheKey>, right: CacheKey[]): Generator<CacheKey> {
  let next = 0
  for (const key of left) {
    for (; next < right.length && (right[next] ?? '') < key; next += 1) yield right[next] ?? ''
    if (right[next] === key) next += 1
    yield key
  }
  for (; next < right.length; next += 1) yield right[next] ?? ''
}

/** State at the snapshot of each object that changed after it; undefined where there was none. */
function undoChanges(cache: KindCache, snapshot: number, namespace: string | undefined) {
  const undone = new Map<CacheKey, Entry | undefined>()
  for (const change of cache.ring.listSince(snapshot, { kind: cache.kind, namespace }) ?? []) {
    const key = formatKey(change)
    if (undone.has(key)) continue
    undone.set(key, change.before === undefined ? undefined : parseEntry(change.before))
  }
  return undone
}

/** Keys are in order of namespaces: beyond this one nothing is of the filter's. */
function endOf({ namespace }: Filter): CacheKey {
  return namespace === undefined ? '\uffff' : `${namespace}\0\uffff`
}

function gather(cache: KindCache, filter: Filter, start: Start): Gathered {
  const { after, snapshot, limit } = start
  const undone = undoChanges(cache, snapshot, filter.namespace)
  const restored = [...undone.keys()].sort().filter((key) => after === undefined || key > after)
  const end = endOf(filter)
  const entries: Entry[] = []
  for (const key of mergeKeys(listCandidates(cache, filter, after), restored)) {
    if (key > end) break
    const entry = undone.has(key) ? undone.get(key) : cache.told.get(key)
    if (matchesFilter(filter, entry)) entries.push(entry)
    if (entries.length > limit) return { entries: entries.slice(0, limit), isCut: true }
  }
  return { entries, isCut: false }
}

async function presentAll<R>(entries: Entry[], present: (entry: Entry) => R): Promise<R[]> {
  const items: R[] = []
  for (const entry of entries) {
    items.push(present(entry))
    if (items.length % batchSize === 0) await yieldTurn()
  }
  return items
}

function presentText({ text, version }: Entry): ResourceText {
  return { text, resourceVersion: String(version) }
}

export function createPages(cache: KindCache) {
  const { kind, ring, told } = cache

  function countAll(namespace: string | undefined): number {
    return namespace === undefined ? told.keys().size() : told.keys().countPrefix(`${namespace}\0`)
  }

  function startAt(query: ListQuery, filter: Filter): Start {
    const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    if (query.continue !== undefined) {
      const { after, snapshot, remaining } = decodePageToken(query.continue, hashFilter(kind, query))
      return { after: formatKey(after), snapshot, remaining, limit }
    }
    const remaining = filter.isFiltering ? undefined : countAll(query.namespace)
    return { after: undefined, snapshot: ring.head(), remaining, limit }
  }

  /** The page as it is now: nothing is awaited before everything on it is gathered. */
  async function readPage<R>(query: ListQuery, present: (entry: Entry) => R): Promise<ResourcePage<R>> {
    const filter = parseFilter(kind, query)
    const start = startAt(query, filter)
    const { snapshot, remaining } = start
    const { entries, isCut } = gather(cache, filter, start)
    // What follows is known where the listing is not filtered and its snapshot not forgotten.
    const isCounted = remaining !== undefined && ring.remembers(snapshot)
    const follows = isCounted ? Math.max(remaining - entries.length, 1) : undefined
    const items = await presentAll(entries, present)
    return { items, resourceVersion: String(snapshot), ...(isCut && makeNext(query, { snapshot, follows }, entries)) }
  }

  /** How the page after this one is found. */
  function makeNext(query: ListQuery, page: { snapshot: number; follows: number | undefined }, entries: Entry[]) {
    const { snapshot, follows } = page
    const { namespace = '', name = '' } = entries.at(-1) ?? {}
    const counted = follows !== undefined
    const token: PageToken = { after: { namespace, name }, snapshot, ...(counted && { remaining: follows }) }
    return {
      continue: encodePageToken(token, hashFilter(kind, query)),
      ...(counted && { remainingItemCount: follows }),
    }
  }

  /** Own writes show on a first page, and a page goes on where another replica's one ended. */
  async function catchUp(query: ListQuery): Promise<void> {
    parseFilter(kind, query)
    if (query.continue === undefined) return cache.settle()
    const { snapshot } = decodePageToken(query.continue, hashFilter(kind, query))
    return cache.waitFor(snapshot)
  }

  return {
    /** The page over what the watch told so far. */
    listTold: (query: ListQuery): Promise<ResourcePage<ResourceOf<Kind>>> =>
      readPage(query, ({ text }) => JSON.parse(text)),
    async list(query: ListQuery): Promise<ResourcePage<ResourceOf<Kind>>> {
      await catchUp(query)
      return readPage(query, ({ text }) => JSON.parse(text))
    },
    async listText(query: ListQuery): Promise<ResourcePage<ResourceText>> {
      await catchUp(query)
      return readPage(query, presentText)
    },
  }
}
