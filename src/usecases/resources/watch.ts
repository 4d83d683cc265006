// Watches of objects: the changes that the caller may see, and how far they were told.
import type { ChangeType, RecordKind } from '../../contract/api/resources/watch.ts'
import type { Kind } from '../../contract/kinds/index.ts'
import { isSvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { TextChange, TextWatch, TextWatchOptions } from '../../ports/resources/resources.ts'
import { mayAccess, requireListing, seesSome } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createSlots } from '../service/slots.ts'
import { type RecordHint, readWithRecords } from './watched-records.ts'

/** Without namespaces: all that the caller may list. */
export type WatchRequest = Omit<TextWatchOptions, 'signal'> & { records?: readonly RecordKind[] | undefined }

export type WatchedText = { type: ChangeType; kind: Kind; object: string } | { type: 'synced' } | RecordHint

export type OpenedWatch = {
  changes: AsyncIterable<WatchedText>
  /** Everything up to here was told; undefined before `synced`. */
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
const slotSettings = { most: 4000, perNamespace: 2000, perCaller: 200 }

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
        // Of those that are not named each is asked about when there is something to tell of it.
        const place = await requireListing(ports, caller, kind, { namespace, heldIn: async () => [] })
        if (place.namespace !== undefined) bound.add(place.namespace)
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
      const { namespaces: _named, records: _told, ...rest } = request
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
          signal.addEventListener('abort', end, { once: true })
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
