// The resource store on the Kubernetes API: one list and watch per kind into memory; reads use that, writes go to the
// server.
import { type Kind, kindNames, type ResourceOf } from '../contract/kinds/index.ts'
import type { SvcError } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { ResourcePage, ResourceReader, Resources, WatchOptions } from '../ports/resources/resources.ts'
import { checkFields } from '../rules/resources/fields.ts'
import { defaultRingLimits, type RingLimits } from '../store/watching/change-ring.ts'
import { createTextWatch, type KindSource } from '../store/watching/text-watch.ts'
import { createWatches } from '../store/watching/watches.ts'
import type { KubernetesApi } from './api.ts'
import { createReflector, type Reflector } from './reflector.ts'
import { makeEntry } from './resources/entry.ts'
import { collectionOf, createExchange } from './resources/exchange.ts'
import { createKindCache, type KindCache } from './resources/kind-cache.ts'
import { createCachePages } from './resources/pages.ts'
import { createWriter } from './resources/writer.ts'

export type KubernetesResourcesOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  /** Absent: all namespaces. */
  namespace?: string
  /** How many changes of each kind are remembered for watches and snapshots. */
  ring?: RingLimits
  /** Called with errors of a watch, which recovers by itself. */
  onFault?: (kind: Kind, error: SvcError) => void
}

export interface KubernetesResources extends Resources {
  /** Kinds whose watch is not open now: reads of them may be outdated. */
  listStale(): Kind[]
  /** Ends watches. The API stays open. */
  close(): Promise<void>
}

/** A store that can be one of several. */
export type SingleStore = KubernetesResources & {
  /** What a watch of the kind reads. */
  sourceOf(kind: Kind): KindSource
}

function startReflector(cache: KindCache, options: KubernetesResourcesOptions): Reflector {
  const { api, clock, ids, onFault } = options
  const { kind } = cache
  return createReflector({
    api,
    clock,
    ids,
    collection: collectionOf(kind),
    namespace: options.namespace,
    convert: (object) => makeEntry(kind, object),
    onReset: (entries, version) => cache.reset(entries, Number(version)),
    onEvent: (type, entry) => cache.apply(type, entry),
    onBookmark: (version) => cache.advance(Number(version)),
    onFault: (error) => onFault?.(kind, error),
  })
}

function mapKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kindNames.map((kind) => [kind, make(kind)])) as Record<Kind, T>
}

function listNamespaces({ watched }: KindCache): string[] {
  const found: string[] = []
  let last: string | undefined
  while (true) {
    const next = watched.keys().after(last).next()
    if (next.done) return found
    const namespace = next.value.slice(0, next.value.indexOf('\0'))
    found.push(namespace)
    last = `${namespace}\0\uffff`
  }
}

/** A watch starts after the service's own earlier writes, or where another replica's list ended. */
function createWatch(
  cache: KindCache,
  list: ReturnType<typeof createCachePages>['listWatched'],
): ResourceReader['watch'] {
  const inner = createWatches({ ring: cache.ring, list: ((_kind, query) => list(query)) as ResourceReader['list'] })
  return async function* watch<K extends Kind>(kind: K, options: WatchOptions) {
    const { resourceVersion, signal } = options
    if (resourceVersion === undefined) await cache.settle(signal)
    else if (/^\d+$/.test(resourceVersion)) await cache.waitFor(Number(resourceVersion), signal)
    yield* inner(kind, options)
  }
}

/** Versions are those of the whole cluster, of which a quiet kind is published a minute late: nothing was missed of it. */
function makeSource(
  cache: KindCache,
  pages: ReturnType<typeof createCachePages>,
  namespace: string | undefined,
): KindSource {
  const { kind, ring } = cache
  return {
    kind,
    namespace,
    ring: { head: ring.head, follow: (scope, version) => ring.follow(scope, Math.min(version, ring.head())) },
    listText: pages.listTextWatched,
    settle: cache.settle,
  }
}

/**
 * Resolves when every kind was listed once. NotConfigured when a definition is not installed, Forbidden when the
 * service may not read a kind; while the API server is unavailable it waits, until the signal aborts.
 */
export async function createKubernetesResources(
  options: KubernetesResourcesOptions,
  signal?: AbortSignal,
): Promise<SingleStore> {
  const { api, clock, ring: limits = defaultRingLimits } = options
  const caches = mapKinds((kind) => createKindCache(kind, { clock, limits }))
  const reflectors = mapKinds((kind) => startReflector(caches[kind], options))
  const pages = mapKinds((kind) => createCachePages(caches[kind]))
  const watches = mapKinds((kind) => createWatch(caches[kind], pages[kind].listWatched))
  const exchange = createExchange(api, caches)
  const sourceOf = (kind: Kind) => makeSource(caches[kind], pages[kind], options.namespace)

  async function close(): Promise<void> {
    for (const kind of kindNames) caches[kind].ring.close()
    await Promise.all(kindNames.map((kind) => reflectors[kind].close()))
  }

  const removeListener = onAbort(signal, () => void close())
  try {
    signal?.throwIfAborted()
    await Promise.all(kindNames.map((kind) => reflectors[kind].ready))
  } catch (error) {
    await close()
    throw error
  } finally {
    removeListener()
  }

  return {
    get: async (kind, key, { latest = false } = {}) => {
      const entry = latest ? (await exchange.readLive(kind, key))?.entry : await exchange.find(kind, key)
      return entry && JSON.parse(entry.text)
    },
    getText: async (kind, key) => {
      const entry = await exchange.find(kind, key)
      return entry && { text: entry.text, resourceVersion: String(entry.version) }
    },
    list: <K extends Kind>(kind: K, query: Parameters<ResourceReader['list']>[1]) =>
      pages[kind].list(query) as Promise<ResourcePage<ResourceOf<K>>>,
    listText: (kind, query) => pages[kind].listText(query),
    namespacesOf: async (kind) => {
      await caches[kind].settle()
      return listNamespaces(caches[kind])
    },
    countBy: async (kind, field) => {
      checkFields(kind, { [field]: '' })
      await caches[kind].settle()
      return caches[kind].watched.index().countBy(field)
    },
    tallyTasks: async (name, query) => {
      await caches.Task.settle()
      return caches.Task.watched.tallies.list(name, query)
    },
    watch: (kind, watchOptions) => watches[kind](kind, watchOptions),
    sourceOf,
    watchText: (watchOptions) => createTextWatch(watchOptions.kinds.map(sourceOf), watchOptions),
    ...createWriter(exchange),
    listStale: () => kindNames.filter((kind) => !reflectors[kind].isCurrent()),
    close,
  }
}
