// Lists in pages over one snapshot: the present rows, with what changed after the snapshot undone.
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Kind, ResourceOf } from '../../../contract/resources/index.ts'
import type { ListQuery, ResourceKey, ResourcePage } from '../../../ports/resources.ts'
import type { Database } from '../database.ts'
import { type Candidate, type CandidateScope, chooseLeader, selectCandidates } from './candidates.ts'
import type { Change, ChangeRing } from './change-ring.ts'
import type { ResourceCounts } from './counts.ts'
import { parseFilter } from './filter.ts'
import { decodePageToken, encodePageToken, hashFilter, type PageToken } from './page-token.ts'
import type { IndexEntry, StoredObject } from './stored-object.ts'

/** Index rows looked at in one statement: doubled while a filter finds too little. */
const firstBatch = 250
const largestBatch = 1000

export type PageParts = { database: Database; ring: ChangeRing; counts: ResourceCounts }

type Walk = {
  scope: CandidateScope
  leader: IndexEntry | undefined
  after: ResourceKey | undefined
  snapshot: number
  /** Objects wanted; Infinity for all. */
  wanted: number
}

type Key = string

function joinKey(key: ResourceKey): Key {
  return `${key.namespace}\0${key.name}`
}

function isAfter(key: ResourceKey, other: ResourceKey | undefined): boolean {
  if (other === undefined) return true
  return key.namespace === other.namespace ? key.name > other.name : key.namespace > other.namespace
}

function compareKeys(left: ResourceKey, right: ResourceKey): number {
  return isAfter(left, right) ? 1 : -1
}

/** State at the snapshot of each object that changed after it; null where there was none. */
function undoChanges(changes: Change[]): Map<Key, Candidate> {
  const undone = new Map<Key, Candidate>()
  for (const { namespace, name, before } of changes) {
    const key = joinKey({ namespace, name })
    if (!undone.has(key)) undone.set(key, { namespace, name, object: before ?? null })
  }
  return undone
}

/** Replaces the candidates that changed, and puts those in that were candidates then, up to the end of the batch. */
function restoreBatch(
  batch: Candidate[],
  undone: Map<Key, Candidate>,
  range: [ResourceKey?, ResourceKey?],
): Candidate[] {
  if (undone.size === 0) return batch
  const [after, end] = range
  const unchanged = batch.filter((candidate) => !undone.has(joinKey(candidate)))
  const restored = [...undone.values()].filter(
    (key) => isAfter(key, after) && !(end !== undefined && isAfter(key, end)),
  )
  return [...unchanged, ...restored].sort(compareKeys)
}

function collectMatches(candidates: Candidate[], walk: Walk, found: StoredObject[]): void {
  for (const { object } of candidates) {
    if (found.length >= walk.wanted) return
    const parsed: StoredObject | null = object === null ? null : JSON.parse(object)
    if (parsed !== null && walk.scope.filter.matches(parsed)) found.push(parsed)
  }
}

/** The objects that the list had at the snapshot; when that is forgotten, those it has now. */
async function walkObjects({ database, ring }: PageParts, walk: Walk): Promise<StoredObject[]> {
  const found: StoredObject[] = []
  let after = walk.after
  let size = Math.min(firstBatch, walk.wanted)
  while (true) {
    const batch = await database.read.all(selectCandidates(walk.scope, { leader: walk.leader, after, size }))
    const end = batch.length < size ? undefined : batch.at(-1)
    const changes = ring.listSince(walk.snapshot, walk.scope) ?? []
    collectMatches(restoreBatch(batch, undoChanges(changes), [after, end]), walk, found)
    if (end === undefined || found.length >= walk.wanted) return found
    after = end
    size = Math.min(size * 2, largestBatch)
    // A long walk must not hold up the requests of others.
    await yieldTurn()
  }
}

export function createPages(parts: PageParts) {
  const { ring, counts, database } = parts

  function startAt(kind: Kind, query: ListQuery, isFiltering: boolean): Omit<PageToken, 'after'> & Partial<PageToken> {
    if (query.continue !== undefined) return decodePageToken(query.continue, hashFilter(kind, query))
    const snapshot = ring.head()
    if (isFiltering) return { snapshot }
    return { snapshot, remaining: counts.count({ kind, namespace: query.namespace }) }
  }

  /** What follows the page, unless the listing is filtered or its snapshot was forgotten. */
  function countAfter(start: Partial<PageToken>, scope: CandidateScope, served: number): number | undefined {
    if (start.remaining === undefined || ring.listSince(start.snapshot ?? 0, scope) === undefined) return undefined
    return Math.max(start.remaining - served, 1)
  }

  return async function list<K extends Kind>(kind: K, query: ListQuery): Promise<ResourcePage<ResourceOf<K>>> {
    const filter = parseFilter(kind, query)
    const scope: CandidateScope = { kind, namespace: query.namespace, filter }
    const start = startAt(kind, query, filter.isFiltering)
    const limit = query.limit !== undefined && query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY
    const leader = await chooseLeader(database.read, scope)
    const found = await walkObjects(parts, { ...start, after: start.after, scope, leader, wanted: limit + 1 })
    const items = found.slice(0, limit) as ResourceOf<K>[]
    const resourceVersion = String(start.snapshot)
    const last = items.at(-1)?.metadata
    if (found.length <= limit || last === undefined) return { items, resourceVersion }
    const remaining = countAfter(start, scope, items.length)
    const after = { namespace: last.namespace, name: last.name }
    const token: PageToken = { after, snapshot: start.snapshot, ...(remaining !== undefined && { remaining }) }
    return {
      items,
      resourceVersion,
      continue: encodePageToken(token, hashFilter(kind, query)),
      ...(remaining !== undefined && { remainingItemCount: remaining }),
    }
  }
}
