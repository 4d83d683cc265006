// A cache of one labelled kind over its list and watch: all attempts are read from it, without requests to the server.
import { type Collection, listScopes } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import { type ApiObject, createReflector, joinReflectors } from '../../cluster/reflector.ts'
import type { SvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { ClusterObject } from './objects.ts'

export type ObjectCacheOptions<T> = {
  api: KubernetesApi
  collection: Collection
  /** Empty: all namespaces. */
  namespaces: readonly string[]
  labelSelector: string
  clock: Clock
  ids: Ids
  onFault: (error: SvcError) => void
  onChange(change: ObjectChange<T>): void
}

export type ObjectChange<T> = { object: T; isGone: boolean }

export type ObjectCache<T extends ClusterObject> = {
  /** Resolves after the first list. */
  ready: Promise<void>
  get(namespace: string, name: string): T | undefined
  all(): T[]
  /** Adds the answer to a write, unless something newer is there. */
  put(object: T): void
  close(): Promise<void>
}

function keyOf({ metadata }: ClusterObject): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Versions of one kind increase (KEP-5504; in practice also before it). */
function isUpTo(object: ClusterObject, version: string): boolean {
  return BigInt(object.metadata.resourceVersion) <= BigInt(version)
}

function readObject<T extends ClusterObject>(object: ApiObject): T {
  // managedFields is half of a small object and of no interest here.
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata } as unknown as T
}

export function createObjectCache<T extends ClusterObject>(options: ObjectCacheOptions<T>): ObjectCache<T> {
  const objects = new Map<string, T>()

  function store(object: T): void {
    const known = objects.get(keyOf(object))
    const isKnown = known !== undefined && known.metadata.uid === object.metadata.uid
    if (isKnown && isUpTo(object, known.metadata.resourceVersion)) return
    objects.set(keyOf(object), object)
    options.onChange({ object, isGone: false })
  }

  function drop(object: T): void {
    // A late deletion must not remove an object that was created again under the name.
    if (objects.get(keyOf(object))?.metadata.uid !== object.metadata.uid) return
    objects.delete(keyOf(object))
    options.onChange({ object, isGone: true })
  }

  function reset(scope: string | undefined, items: T[], version: string): void {
    const present = new Set(items.map((item) => item.metadata.uid))
    // What was added while the list was being read is newer than the list.
    const isWithin = (object: T) => scope === undefined || object.metadata.namespace === scope
    const isLost = (object: T) => isWithin(object) && !present.has(object.metadata.uid) && isUpTo(object, version)
    for (const object of [...objects.values()].filter(isLost)) drop(object)
    for (const item of items) store(item)
  }

  const { api, clock, ids, collection, namespaces, labelSelector, onFault } = options
  const follow = (scope: { namespace?: string }) =>
    createReflector<T>({
      api,
      clock,
      ids,
      collection,
      labelSelector,
      ...scope,
      convert: readObject<T>,
      onReset: (items, version) => reset(scope.namespace, items, version),
      onEvent: (type, object) => (type === 'DELETED' ? drop(object) : store(object)),
      onFault,
    })
  const reflector = joinReflectors(listScopes(namespaces).map(follow))
  return {
    ready: reflector.ready,
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    all: () => [...objects.values()],
    put: store,
    close: () => reflector.close(),
  }
}
