// Lists in pages over one snapshot: the current rows, with changes after the snapshot undone.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import type { ResourceKey, ResourcePage, ResourceQuery, ResourceText } from '../../ports/resources/resources.ts'
import type { Database } from '../database/database.ts'
import type { Change, ChangeRing } from '../watching/change-ring.ts'
import { comparePositions, type ListOrder, type Position } from '../watching/list-order.ts'
import { decodePageToken, encodePageToken, hashFilter, type PageToken } from '../watching/page-token.ts'
import type { StoredObject } from '../watching/stored-object.ts'
import { type Candidate, type CandidateScope, chooseLeader, selectCandidates } from './candidates.ts'
import type { ResourceCounts } from './counts.ts'
import { parseFilter, type ResourceFilter } from './filter.ts'
import { parseObject } from './stored-row.ts'

/** Index rows examined in one statement: doubled while a filter finds too little. */
const firstBatch = 250
const maxBatch = 1000

export type PageParts = { database: Database; ring: ChangeRing; counts: ResourceCounts }

/** An object of the list, parsed only if that was needed to decide. */
type Match = { text: string; version: number | string; object?: StoredObject }

/** Where a page starts; `after` is absent on the first one. */
type Start = Omit<PageToken, 'after'> & Partial<Pick<PageToken, 'after'>>

type Walk<R> = Start & {
  scope: CandidateScope
  /** Objects on the page; Infinity for all. */
  limit: number
  /** Converts an object to an item. */
  present: (match: Match) => R
}

/** What a walk has found so far; `isCut` when there is an object beyond the limit. */
type Gathered<R> = { items: R[]; last?: Position; isCut: boolean }

type Key = string

function joinKey(key: ResourceKey): Key {
  return `${key.namespace}\0${key.name}`
}

/** State at the snapshot of each object that changed after it; no text when it did not exist then. */
function undoChanges(changes: Change[]): Map<Key, Candidate> {
  const undone = new Map<Key, Candidate>()
  for (const { namespace, name, created, before } of changes) {
    const key = joinKey({ namespace, name })
    if (!undone.has(key)) undone.set(key, { namespace, name, created, text: before ?? null, version: null })
  }
  return undone
}

/** Replaces candidates that changed, and inserts those that were candidates then, up to the end of the batch. */
function restoreBatch(
  batch: Candidate[],
  changes: Change[],
  { order, after, end }: { order: ListOrder; after: Position | undefined; end: Position | undefined },
): Candidate[] {
  const compare = comparePositions(order)
  const within = changes.filter(
    (change) => (after === undefined || compare(change, after) > 0) && (end === undefined || compare(change, end) <= 0),
  )
  if (within.length === 0) return batch
  const undone = undoChanges(within)
  const unchanged = batch.filter((candidate) => !undone.has(joinKey(candidate)))
  return [...unchanged, ...undone.values()].sort(compare)
}

/** The candidate as the filter finds it; undefined when it does not match. */
function matchCandidate({ text, version }: Candidate, filter: ResourceFilter): Match | undefined {
  if (text === null) return undefined
  if (version !== null && filter.isIndexed) return { text, version }
  const object: StoredObject = JSON.parse(text)
  return filter.matches(object) ? { text, version: object.metadata.resourceVersion, object } : undefined
}

function gatherMatches<R>(candidates: Candidate[], walk: Walk<R>, gathered: Gathered<R>): void {
  for (const candidate of candidates) {
    const match = matchCandidate(candidate, walk.scope.filter)
    if (match === undefined) continue
    if (gathered.items.length >= walk.limit) {
      gathered.isCut = true
      return
    }
    gathered.items.push(walk.present(match))
    gathered.last = candidate
  }
}

/** What changed since the snapshot, in the listed namespaces. */
function listChanges(ring: ChangeRing, { scope, snapshot }: Walk<unknown>): Change[] {
  const { namespaces } = scope
  const changes = ring.listSince(snapshot, scope) ?? []
  return namespaces === undefined ? changes : changes.filter(({ namespace }) => namespaces.includes(namespace))
}

/** The objects of the list at the snapshot; when that is forgotten, the current ones. */
async function walkObjects<R>({ database, ring }: PageParts, walk: Walk<R>): Promise<Gathered<R>> {
  const { scope } = walk
  const leader = await chooseLeader(database.read, scope)
  const gathered: Gathered<R> = { items: [], isCut: false }
  let after = walk.after
  let size = Math.min(firstBatch, walk.limit + 1)
  while (true) {
    const batch = await database.read.all(selectCandidates(scope, { leader, after, size }))
    const end = batch.length < size ? undefined : batch.at(-1)
    const changes = listChanges(ring, walk)
    gatherMatches(restoreBatch(batch, changes, { order: scope.order, after, end }), walk, gathered)
    if (end === undefined || gathered.isCut) return gathered
    after = end
    size = Math.min(size * 2, maxBatch)
    // A long walk must not block other requests.
    await yieldTurn()
  }
}

/** The position of the last object in the order of the list. */
function positionOf({ namespace, name, created }: Position, order: ListOrder): Position {
  return { namespace, name, created: order === 'name' ? '' : created }
}

function presentText({ text, version }: Match): ResourceText {
  return { text, resourceVersion: String(version) }
}

export function createPages(parts: PageParts) {
  const { ring, counts } = parts

  function startAt(kind: Kind, query: ResourceQuery, isFiltering: boolean): Start {
    if (query.continue !== undefined) return decodePageToken(query.continue, hashFilter(kind, query))
    const snapshot = ring.head()
    if (isFiltering || query.namespaces !== undefined) return { snapshot }
    return { snapshot, remaining: counts.count({ kind, namespace: query.namespace }) }
  }

  /** How many objects follow the page; undefined when the list is filtered or its snapshot was forgotten. */
  function countAfter({ remaining, snapshot }: Start, served: number): number | undefined {
    return remaining === undefined || !ring.remembers(snapshot) ? undefined : Math.max(remaining - served, 1)
  }

  async function readPage<R>(kind: Kind, query: ResourceQuery, present: (match: Match) => R): Promise<ResourcePage<R>> {
    const filter = parseFilter(kind, query)
    const start = startAt(kind, query, filter.isFiltering)
    const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    const { namespace, namespaces, sort: order = 'name' } = query
    const scope = { kind, namespace, namespaces, filter, order }
    const { items, last, isCut } = await walkObjects(parts, { ...start, scope, limit, present })
    const { snapshot } = start
    const resourceVersion = String(snapshot)
    if (!isCut || last === undefined) return { items, resourceVersion }
    const remaining = countAfter(start, items.length)
    const token: PageToken = { after: positionOf(last, order), snapshot, remaining }
    return {
      items,
      resourceVersion,
      continue: encodePageToken(token, hashFilter(kind, query)),
      remainingItemCount: remaining,
    }
  }

  return {
    list: <K extends Kind>(kind: K, query: ResourceQuery): Promise<ResourcePage<ResourceOf<K>>> =>
      readPage(kind, query, ({ text, object }) => (object ?? parseObject(kind, text)) as ResourceOf<K>),
    listText: (kind: Kind, query: ResourceQuery) => readPage(kind, query, presentText),
  }
}
