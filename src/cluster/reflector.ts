// Follows one collection: lists it in pages, then watches it from there, across broken connections and expired
// versions.
import { isSvcError, SvcError } from '../errors.ts'
import { type Backoff, delayMs } from '../lib/backoff.ts'
import { type Clock, type Ids, monotonicMs } from '../lib/clock.ts'
import { type ApiStatus, describeFailure, describeUnreachable } from './api/failures.ts'
import type { Collection } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'

/** The fields of every object of the API server. */
export type ApiObject = {
  apiVersion?: string
  kind?: string
  metadata: { name: string; namespace?: string; uid: string; resourceVersion: string; [field: string]: unknown }
  [field: string]: unknown
}

export type ReflectorOptions<T> = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  collection: Collection
  /** Absent: all namespaces. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Requests only the metadata of objects. */
  metadataOnly?: boolean
  /** Extracts what is kept of an object; the object itself is not retained. */
  convert(object: ApiObject): T
  /** All objects, at a version; replaces everything reported before. Called first, and again after a gap. */
  onReset(items: T[], version: string): void
  /** One change, in order. */
  onEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', item: T, version: string): void
  /** Nothing else happened up to this version. */
  onBookmark?(version: string): void
  /** Called with an error, after which it tries again. */
  onFault?(error: SvcError): void
}

export type Reflector = {
  /** Resolves after the first list; rejects when that can never succeed (NotConfigured, Forbidden). */
  ready: Promise<void>
  /** Whether a watch is open now. */
  isCurrent(): boolean
  close(): Promise<void>
}

type ListAnswer = { items?: ApiObject[]; metadata: { resourceVersion: string; continue?: string } }
type WatchLine = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: ApiObject & ApiStatus }

const pageSize = 500
const backoff: Backoff = { firstMs: 200, maxMs: 5000 }
/**
 * A watch that ends sooner without an event counts as failed, so that a server that closes at once is not called in a
 * loop.
 */
const minWatchMs = 1000
/**
 * Bookmarks arrive each minute; a connection silent for longer than this is dead (WatchList, `allowWatchBookmarks`).
 */
const silenceMs = 90_000
/** The server ends a watch after this time, randomized so that not all of them return at once. */
const watchSeconds = 300

/** Splits a stream into lines; searches only what is new, because an object may arrive in many pieces. */
export async function* readStreamLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  for await (const bytes of stream) {
    let text = decoder.decode(bytes, { stream: true })
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield [...pieces, text.slice(0, end)].join('')
      pieces = []
      text = text.slice(end + 1)
    }
    if (text !== '') pieces.push(text)
  }
  const rest = pieces.join('')
  if (rest !== '') yield rest
}

/** Errors that repeating cannot fix: the kind is not installed, or the service may not read it. */
function isLasting(error: SvcError): boolean {
  return error.reason === 'NotConfigured' || error.reason === 'Forbidden'
}

function toFault(error: unknown): SvcError {
  return isSvcError(error) ? error : describeUnreachable(error)
}

/** List and watch of one collection, which share the version reached. */
function createSession<T>(options: ReflectorOptions<T>, signal: AbortSignal) {
  const { api, clock, ids, collection, namespace, labelSelector, fieldSelector, metadataOnly } = options
  const target = { collection, metadataOnly, namespace }
  const filter = { labelSelector, fieldSelector }
  let version: string | undefined
  let isOpen = false

  async function listAll(): Promise<string> {
    const items: T[] = []
    let token: string | undefined
    do {
      const query = { ...filter, limit: pageSize, continue: token }
      const page = await api.request<ListAnswer>({ verb: 'list', ...target, query, signal })
      for (const item of page.items ?? []) items.push(options.convert(item))
      version = page.metadata.resourceVersion
      token = page.metadata.continue || undefined
    } while (token !== undefined)
    options.onReset(items, version)
    return version
  }

  function take(line: WatchLine): void {
    const { type, object } = line
    if (type === 'ERROR') throw describeFailure(object)
    version = object.metadata.resourceVersion
    if (type === 'BOOKMARK') options.onBookmark?.(version)
    else options.onEvent(type, options.convert(object), version)
  }

  async function follow(from: string): Promise<void> {
    const timeoutSeconds = Math.round(watchSeconds * (1 + ids.random()))
    const query = { ...filter, watch: true, allowWatchBookmarks: true, resourceVersion: from, timeoutSeconds }
    const startedAt = monotonicMs(clock)
    let lines = 0
    const stream = await api.stream({ verb: 'watch', ...target, query, signal, silenceMs, tries: 1 })
    isOpen = true
    try {
      for await (const line of readStreamLines(stream)) {
        take(JSON.parse(line))
        lines += 1
      }
    } finally {
      isOpen = false
    }
    if (lines === 0 && monotonicMs(clock) - startedAt < minWatchMs) {
      throw new SvcError('Unavailable', `the watch of ${collection.plural} ended at once`)
    }
  }

  return {
    isOpen: () => isOpen,
    version: () => version,
    listAll,
    follow,
    /** The server no longer knows the version: the next round lists again. */
    forget: () => {
      version = undefined
    },
  }
}

/** Several as one: ready when all are, current as long as all are. */
export function joinReflectors(reflectors: Reflector[]): Reflector {
  const ready = Promise.all(reflectors.map((each) => each.ready)).then(() => undefined)
  // The waiting caller sees the rejection.
  ready.catch(() => undefined)
  return {
    ready,
    isCurrent: () => reflectors.every((each) => each.isCurrent()),
    close: async () => {
      await Promise.all(reflectors.map((each) => each.close()))
    },
  }
}

export function createReflector<T>(options: ReflectorOptions<T>): Reflector {
  const { clock, ids } = options
  const closed = new AbortController()
  const { signal } = closed
  const session = createSession(options, signal)
  const ready = Promise.withResolvers<void>()
  let failures = 0
  let isListed = false

  async function runRound(): Promise<void> {
    const from = isListed ? session.version() : undefined
    const version = from ?? (await session.listAll())
    isListed = true
    ready.resolve()
    await session.follow(version)
    failures = 0
  }

  function note(error: unknown, versionBefore: string | undefined): void {
    const fault = toFault(error)
    if (fault.reason === 'Expired') session.forget()
    if (!isListed && isLasting(fault)) ready.reject(fault)
    // Progress before the error means that the server was fine a moment ago.
    failures = session.version() !== versionBefore ? 1 : failures + 1
    options.onFault?.(fault)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const versionBefore = session.version()
      try {
        await runRound()
      } catch (error) {
        if (signal.aborted) return
        note(error, versionBefore)
        await clock.sleep(delayMs(backoff, failures, ids.random()), signal).catch(() => undefined)
      }
    }
  }

  // A waiting caller sees the rejection; without one it is ignored.
  ready.promise.catch(() => undefined)
  const running = run()
  return {
    ready: ready.promise,
    isCurrent: session.isOpen,
    close: async () => {
      closed.abort()
      ready.reject(new SvcError('Unavailable', 'the service is stopping'))
      await running
    },
  }
}
