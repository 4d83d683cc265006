// A watch of several kinds as text: each kind read from its own ring, merged in order of versions.
import type { Kind } from '../../contract/kinds/index.ts'
import { onAbort } from '../../lib/abort.ts'
import type {
  ObjectFilter,
  ResourcePage,
  ResourceQuery,
  ResourceText,
  TextChange,
  TextWatch,
  TextWatchOptions,
} from '../../ports/resources/resources.ts'
import { checkFields, matchesFields, matchesSearch } from '../../rules/resources/fields.ts'
import { matchesLabels, parseLabelSelector } from '../../rules/resources/selectors.ts'
import type { Change, ChangeRing, Follower } from './change-ring.ts'
import type { StoredObject } from './stored-object.ts'
import { describeExpired, listingPage, parseVersion } from './watches.ts'

/** The change as it is published; undefined where it does not show. */
type ChangeFilter = (change: Change) => TextChange['type'] | undefined

type States = { is: StoredObject; was: StoredObject | undefined }

// Parsed once for all watches with a filter, kept only as long as one of them holds it.
const shared = new WeakMap<Change, WeakRef<States>>()

function parseStates(change: Change): States {
  const known = shared.get(change)?.deref()
  if (known !== undefined) return known
  const { object, before } = change
  const states = { is: JSON.parse(object), was: before === undefined ? undefined : JSON.parse(before) }
  shared.set(change, new WeakRef(states))
  return states
}

/** InvalidRequest when the selector or a field is invalid for one of the kinds. */
function createChangeFilter(
  kinds: readonly Kind[],
  { names, search, labelSelector = '', fields = {} }: ObjectFilter,
): ChangeFilter {
  for (const kind of kinds) checkFields(kind, fields)
  const requirements = parseLabelSelector(labelSelector)
  const named = names && new Set(names)
  const isOfAll = requirements.length === 0 && Object.keys(fields).length === 0
  const matches = (object: StoredObject | undefined) =>
    object !== undefined &&
    matchesLabels(requirements, object.metadata.labels) &&
    matchesFields(object.kind, fields, object)

  function compare(change: Change): TextChange['type'] | undefined {
    const { is, was } = parseStates(change)
    if (change.type === 'DELETED') return matches(was ?? is) ? 'DELETED' : undefined
    const types = matches(was) ? (['MODIFIED', 'DELETED'] as const) : (['ADDED', undefined] as const)
    return types[matches(is) ? 0 : 1]
  }

  return (change) => {
    if (named?.has(change.name) === false || !matchesSearch(change.name, search)) return undefined
    return isOfAll ? change.type : compare(change)
  }
}

/** What a watch reads of one kind. */
export type KindSource = {
  kind: Kind
  /** Absent: the source has all namespaces. */
  namespace?: string
  ring: Pick<ChangeRing, 'head' | 'follow'>
  /** The page at the version that the ring has come to. */
  listText(query: ResourceQuery): Promise<ResourcePage<ResourceText>>
  /** Resolves when the ring has what was written before. */
  settle(signal: AbortSignal): Promise<void>
}

type Lane = { source: KindSource; follower: Follower; next: Change | 'lost' | undefined }

function openLane(source: KindSource, version: number, only: string | undefined): Lane {
  const follower = source.ring.follow({ kind: source.kind, namespace: source.namespace ?? only }, version)
  if (follower === undefined) throw describeExpired()
  return { source, follower, next: undefined }
}

/** Looks at the next change of each lane. */
function fill(lanes: readonly Lane[]): void {
  for (const lane of lanes) lane.next ??= lane.follower.take()
}

/** The oldest change of all lanes. Expired when one of them has lost some. */
function takeOldest(lanes: readonly Lane[]): Change | undefined {
  fill(lanes)
  let oldest: { lane: Lane; change: Change } | undefined
  for (const lane of lanes) {
    const change = lane.next
    if (change === 'lost') throw describeExpired()
    if (change !== undefined && (oldest === undefined || change.version < oldest.change.version))
      oldest = { lane, change }
  }
  if (oldest !== undefined) oldest.lane.next = undefined
  return oldest?.change
}

/** Where the lanes have come to together; undefined where one of them has lost its cursor. */
function findPosition(lanes: readonly Lane[]): number | undefined {
  fill(lanes)
  const reached = lanes.map(({ next, source }) => (next === undefined ? source.ring.head() : next))
  if (reached.includes('lost')) return undefined
  return Math.min(...reached.map((one) => (typeof one === 'object' ? one.version - 1 : Number(one))))
}

function describePresent(kind: Kind, text: string): TextChange {
  const { namespace, name } = (JSON.parse(text) as StoredObject).metadata
  return { type: 'ADDED', kind, namespace, name, object: text }
}

/** What there is of a source, at the version that its lane was opened at: nothing is awaited between the two. */
async function* listPresent(source: KindSource, options: TextWatchOptions): AsyncGenerator<TextChange> {
  const { namespaces, names, search, labelSelector, fields } = options
  const scope = source.namespace === undefined ? { namespaces } : { namespace: source.namespace }
  const filter = { ...scope, names, search, labelSelector, fields }
  let next: string | undefined
  do {
    const page = await source.listText({ ...filter, limit: listingPage, continue: next })
    for (const { text } of page.items) yield describePresent(source.kind, text)
    next = page.continue
  } while (next !== undefined)
}

/** Makes the watch; the sources are those of its kinds. */
export function createTextWatch(sources: readonly KindSource[], options: TextWatchOptions): TextWatch {
  const { namespaces, after, signal } = options
  const classify = createChangeFilter(options.kinds, options)
  const only = namespaces?.length === 1 ? namespaces[0] : undefined
  const read = sources.filter(({ namespace }) => namespace === undefined || (namespaces?.includes(namespace) ?? true))
  const lanes = after === undefined ? [] : read.map((source) => openLane(source, parseVersion(after), only))
  let isSynced = after !== undefined
  const close = () => {
    for (const { follower } of lanes) follower.close()
  }
  onAbort(signal, close)

  async function* begin(): AsyncGenerator<TextChange | 'synced'> {
    for (const source of read) {
      await source.settle(signal)
      if (signal.aborted) return
      lanes.push(openLane(source, source.ring.head(), only))
      if (options.present !== false) yield* listPresent(source, options)
    }
    isSynced = true
    yield 'synced'
  }

  function* present(change: Change): Generator<TextChange> {
    const { kind, namespace, name, object } = change
    const type = (namespaces?.includes(namespace) ?? true) ? classify(change) : undefined
    if (type !== undefined) yield { type, kind, namespace, name, object }
  }

  async function* readChanges(): AsyncGenerator<TextChange> {
    while (!signal.aborted && lanes.every(({ follower }) => !follower.isClosed())) {
      const change = takeOldest(lanes)
      if (change === undefined) await Promise.race(lanes.map(({ follower }) => follower.wait()))
      else yield* present(change)
    }
  }

  async function* readAll(): AsyncGenerator<TextChange | 'synced'> {
    try {
      if (!isSynced) yield* begin()
      yield* readChanges()
    } finally {
      close()
    }
  }

  let position: number | undefined
  return {
    [Symbol.asyncIterator]: readAll,
    position() {
      if (!isSynced) return undefined
      position = findPosition(lanes) ?? position
      return position === undefined ? undefined : String(position)
    },
  }
}
