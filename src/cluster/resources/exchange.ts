// Reads and writes of single objects: each answer of the API server is recorded, so that the next read finds it.
import { apiVersion, type Kind, kinds, type ResourceOf } from '../../contract/kinds/index.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { describeKey, describeMissing, describeTaken } from '../../store/watching/stored-object.ts'
import { orAbsent } from '../api/failures.ts'
import type { Collection } from '../api/paths.ts'
import type { KubernetesApi } from '../api.ts'
import type { ApiObject } from '../reflector.ts'
import { type CacheEntry, makeEntry } from './entry.ts'
import type { KindCache } from './kind-cache.ts'

export type LiveObject = { entry: CacheEntry; answer: ApiObject }

export type Exchange = {
  api: KubernetesApi
  caches: Record<Kind, KindCache>
  /** The object from the API server itself; undefined when it does not exist. */
  readLive(kind: Kind, key: ResourceKey): Promise<LiveObject | undefined>
  /**
   * The object, from memory if possible. A missing one may have been created through another replica a moment ago,
   * so the API server is asked, unless its removal was reported.
   */
  find(kind: Kind, key: ResourceKey): Promise<CacheEntry | undefined>
  /** Records an answer and returns a separate copy to the caller. */
  accept<K extends Kind>(kind: K, answer: ApiObject): ResourceOf<K>
}

/** The collection of a kind of the service. */
export function collectionOf(kind: Kind): Collection {
  const [group = '', version = ''] = apiVersion.split('/')
  return { group, version, plural: kinds[kind].plural }
}

/** The error, worded as in every store. */
export function translate(error: unknown, kind: Kind, key: ResourceKey): unknown {
  if (!isSvcError(error)) return error
  switch (error.reason) {
    case 'AlreadyExists':
      return describeTaken(kind, key)
    case 'Conflict': {
      const message = `${describeKey(kind, key)} was changed meanwhile, or is another object than the one meant: read it again and repeat the change`
      return new SvcError('Conflict', message, { cause: error })
    }
    case 'NotFound':
      // For a create NotFound means the namespace; otherwise the object.
      return error.message.startsWith('namespaces ')
        ? new SvcError('NotFound', `namespace "${key.namespace}" does not exist: create it, or choose another`)
        : describeMissing(kind, key)
    default:
      return error
  }
}

export function createExchange(api: KubernetesApi, caches: Record<Kind, KindCache>): Exchange {
  async function readLive(kind: Kind, { namespace, name }: ResourceKey): Promise<LiveObject | undefined> {
    const request = { verb: 'get' as const, collection: collectionOf(kind), namespace, name }
    const answer = await orAbsent(api.request<ApiObject>(request))
    if (answer === undefined) return undefined
    const entry = makeEntry(kind, answer)
    caches[kind].note(entry)
    return { entry, answer }
  }

  return {
    api,
    caches,
    readLive,
    async find(kind, key) {
      const known = caches[kind].find(key)
      if (known !== undefined || caches[kind].isRemoved(key)) return known
      return (await readLive(kind, key))?.entry
    },
    accept(kind, answer) {
      const entry = makeEntry(kind, answer)
      if (entry.isGone) caches[kind].noteRemoval(entry)
      else caches[kind].note(entry)
      return JSON.parse(entry.text)
    },
  }
}
