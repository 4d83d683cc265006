// Watches of objects: the changes that the caller may see, and how far they were published.
import type { ChangeType, RecordKind } from '../../contract/api/resources/watch.ts'
import type { Kind } from '../../contract/kinds/index.ts'
import { isSvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { RecordChange, RecordChanges } from '../../ports/resources/records.ts'
import type { TextChange, TextWatch, TextWatchOptions } from '../../ports/resources/resources.ts'
import { accessKindOf } from '../../rules/identity/permission.ts'
import { mayAccess, requireListing, seesSome } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createSlots } from '../service/slots.ts'

/** Without namespaces: all that the caller may list. */
export type WatchRequest = Omit<TextWatchOptions, 'signal'> & { records?: readonly RecordKind[] | undefined }

export type WatchedText = { type: ChangeType; kind: Kind; object: string } | { type: 'synced' } | RecordHint

export type OpenedWatch = {
  changes: AsyncIterable<WatchedText>
  /** Everything up to here was published; undefined before `synced`. */
  position(): string | undefined
}

export type WatchUsecases = {
  /**
   * Expired when the version is too old; Forbidden where a namespace is named that the caller may not list; TooManyRequests. The
   * changes end without an error where they cannot go on: whoever asks again learns why.
   */
  open(caller: Caller, request: WatchRequest): Promise<(signal: AbortSignal) => OpenedWatch>
}

/** Streams of one replica. Each holds a connection and at most 64 KiB that its reader has not taken. */
const slotSettings = { max: 4000, perNamespace: 2000, perCaller: 200 }

const synced: WatchedText = { type: 'synced' }

const endings = ['Expired', 'Unavailable', 'Forbidden'] as const

/** Ends where the changes cannot go on: whoever asks again learns why. */
async function* endQuietly<T>(changes: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* changes
  } catch (error) {
    if (!endings.some((reason) => isSvcError(error, reason))) throw error
  }
}

const types: Record<TextChange['type'], ChangeType> = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' }

export function createWatchUsecases({ ports }: UsecaseDeps): WatchUsecases {
  const slots = createSlots('watches', slotSettings)

  async function requireAll(caller: Caller, { kinds, namespaces }: WatchRequest): Promise<string[]> {
    const bound = new Set<string>()
    for (const kind of kinds) {
      for (const namespace of namespaces ?? [undefined]) {
        // Of those that are not named each is asked about when there is something to publish of it.
        const scope = await requireListing(ports, caller, kind, { namespace, storedIn: async () => [] })
        if (scope.namespace !== undefined) bound.add(scope.namespace)
      }
    }
    return [...bound]
  }

  function maySee(caller: Caller, { kind, namespace, name }: TextChange): Promise<boolean> {
    const named = seesSome(caller, kind) ? { name } : {}
    return mayAccess(ports, caller, { verb: 'list', kind, namespace, ...named, entry: true })
  }

  /** Forbidden once the caller may list a namespace no longer that the request names: silence would seem to be the truth. */
  async function* readAllowed(caller: Caller, request: WatchRequest, watch: TextWatch): AsyncGenerator<WatchedText> {
    for await (const change of watch) {
      if (change === 'synced') yield synced
      else if (await maySee(caller, change)) {
        yield { type: types[change.type], kind: change.kind, object: change.object }
      } else await requireAll(caller, request)
    }
  }

  function readAll(caller: Caller, request: WatchRequest, watch: TextWatch, namespaces: readonly string[] | undefined) {
    const objects = readAllowed(caller, request, watch)
    const { records = [], after } = request
    if (records.length === 0) return objects
    // Taken up again, it begins with one for each kind: some may have been missed.
    const query = { records, namespaces, isResumed: after !== undefined }
    return readWithRecords(ports, { caller, query, objects })
  }

  return {
    async open(caller, request) {
      const { namespaces: _named, records: _records, ...rest } = request
      const bound = await requireAll(caller, request)
      const stop = new AbortController()
      const namespaces = bound.length > 0 ? { namespaces: bound } : {}
      const options = { ...rest, ...namespaces, signal: stop.signal }
      const release = slots.take({ caller, namespace: bound[0] ?? '' })
      const end = () => {
        stop.abort()
        release()
      }
      try {
        const watch = ports.resources.watchText(options)
        return (signal) => {
          onAbort(signal, end)
          const changes = readAll(caller, request, watch, namespaces.namespaces)
          return { changes: endQuietly(changes), position: () => watch.position() }
        }
      } catch (error) {
        end()
        throw error
      }
    },
  }
}

export type RecordQuery = {
  records: readonly RecordKind[]
  /** Absent: of all that the caller may list. */
  namespaces: readonly string[] | undefined
  /** Whether some may have been missed, so that each kind is published at once. */
  isResumed: boolean
}

export type RecordHint = { type: 'records'; change: RecordChange }

/** Whether the caller may list such records where they have changed; where that is not known, in any namespace that is watched. */
async function mayList(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { kind, namespace }: RecordChange,
  watched: readonly string[] | undefined,
): Promise<boolean> {
  const namespaces = namespace === undefined ? (watched ?? [undefined]) : [namespace]
  for (const name of namespaces) {
    const where = name === undefined ? {} : { namespace: name }
    if (await mayAccess(ports, caller, { verb: 'list', kind: accessKindOf(kind), ...where, entry: true })) return true
  }
  return false
}

type Queue = { drain(): RecordChange[]; close(): void }

/** What has changed since the queue was last drained; `wake` is called when something is added. */
function queueChanges(changes: RecordChanges, query: RecordQuery, wake: () => void): Queue {
  const { records, namespaces } = query
  const waiting = new Map<string, RecordChange>()
  const add = (change: RecordChange) => {
    waiting.set(JSON.stringify([change.kind, change.namespace]), change)
    wake()
  }
  const noteAll = () => {
    for (const kind of records) add({ kind })
  }
  const isWatched = ({ kind, namespace }: RecordChange) =>
    records.includes(kind) && (namespace === undefined || (namespaces?.includes(namespace) ?? true))
  const close = changes.subscribe((change) => {
    if (change === undefined) noteAll()
    else if (isWatched(change)) add(change)
  })
  if (query.isResumed) noteAll()
  return {
    drain() {
      const drained = [...waiting.values()]
      waiting.clear()
      return drained
    },
    close,
  }
}

/** The changes of objects, between them hints about records; ends with the former. */
export async function* readWithRecords<T>(
  ports: Pick<Ports, 'authorizer' | 'records'>,
  { caller, query, objects }: { caller: Caller; query: RecordQuery; objects: AsyncIterable<T> },
): AsyncGenerator<T | RecordHint> {
  const waker = { wake: () => {} }
  const queue = queueChanges(ports.records.changes, query, () => waker.wake())
  const drain = () => queue.drain().map((change): RecordHint => ({ type: 'records', change }))
  const isHint = (one: T | RecordHint): one is RecordHint =>
    typeof one === 'object' && one !== null && 'type' in one && one.type === 'records'
  try {
    for await (const one of mergeDrained(objects, drain, waker)) {
      if (!isHint(one) || (await mayList(ports, caller, one.change, query.namespaces))) yield one
    }
  } finally {
    queue.close()
  }
}

type Arrived<T> = { result: IteratorResult<T> } | { error: unknown }

export type Waker = { wake(): void }

/** The changes, between them what `drain` gives; `waker.wake` makes it look. Ends with the changes. */
export async function* mergeDrained<T, H>(
  changes: AsyncIterable<T>,
  drain: () => H[],
  waker: Waker,
): AsyncGenerator<T | H> {
  const source = changes[Symbol.asyncIterator]()
  let arrived: Arrived<T> | undefined
  const pull = () => {
    arrived = undefined
    source.next().then(
      (result) => {
        arrived = { result }
        waker.wake()
      },
      (error: unknown) => {
        arrived = { error }
        waker.wake()
      },
    )
  }
  pull()
  for (;;) {
    const { promise: awake, resolve } = Promise.withResolvers<void>()
    waker.wake = resolve
    yield* drain()
    const next = arrived as Arrived<T> | undefined
    if (next === undefined) {
      await awake
      continue
    }
    if ('error' in next) throw next.error
    if (next.result.done) return
    yield next.result.value
    pull()
  }
}
