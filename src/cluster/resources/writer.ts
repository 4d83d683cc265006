// Writes of resources, each one a request that the API server judges.
import { apiVersion, type Kind, type ResourceOf } from '../../contract/kinds/index.ts'
import { isSvcError } from '../../errors.ts'
import type {
  DeletePreconditions,
  ResourceDraft,
  ResourceKey,
  ResourceWriter,
  StatusWriter,
} from '../../ports/resources/resources.ts'
import { describeMissing, type StoredObject, stringifyObject } from '../../store/watching/stored-object.ts'
import type { ApiRequest } from '../api.ts'
import type { ApiObject } from '../reflector.ts'
import { appliedAnnotation, type CacheEntry } from './entry.ts'
import { collectionOf, type Exchange, translate } from './exchange.ts'

/** The name in `managedFields`, and strict validation, which makes unknown fields errors instead of dropping them. */
const writeQuery = { fieldManager: 'svc', fieldValidation: 'Strict' }

type Metadata = Partial<StoredObject['metadata']> & ResourceKey
type Body = { metadata: Record<string, unknown> & ResourceKey; spec?: unknown; status?: unknown }

/** The metadata that callers may write. */
function pickWritable({ labels, annotations, finalizers, ownerReferences }: Partial<Metadata>) {
  return { labels, annotations, finalizers, ownerReferences }
}

/** Name and uid of the intended object; an empty uid means any. */
function pickIdentity({ namespace, name, uid }: Metadata) {
  return { namespace, name, ...(uid && { uid }) }
}

export function createWriter(exchange: Exchange): ResourceWriter & StatusWriter {
  const { api, caches, readLive, accept } = exchange

  async function send<K extends Kind>(
    kind: K,
    parts: Body,
    request: Pick<ApiRequest, 'verb' | 'subresource'>,
  ): Promise<ResourceOf<K>> {
    const { namespace, name } = parts.metadata
    const body = { apiVersion, kind, ...parts }
    // Refuses more than 1 MiB before it is sent (HTTP-032).
    stringifyObject(body as unknown as StoredObject)
    const target = { collection: collectionOf(kind), namespace, ...(request.verb !== 'create' && { name }) }
    try {
      return accept(kind, await api.request<ApiObject>({ ...request, ...target, query: writeQuery, body }))
    } catch (error) {
      throw translate(error, kind, { namespace, name })
    }
  }

  /**
   * Overwrites the current state: the API server has no unconditional writes of custom resources, so it is read first.
   */
  async function overwrite<T extends object>(
    kind: Kind,
    metadata: Metadata,
    write: (version: string) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const live = await readLive(kind, metadata)
      if (live === undefined) throw describeMissing(kind, metadata)
      const isOther = Boolean(metadata.uid) && metadata.uid !== live.entry.uid
      const written = await write(live.answer.metadata.resourceVersion).catch((error: unknown) => {
        if (isOther || !isSvcError(error, 'Conflict')) throw error
      })
      if (written !== undefined) return written
    }
  }

  function write<T extends object>(kind: Kind, metadata: Metadata, send: (version: string) => Promise<T>): Promise<T> {
    return metadata.resourceVersion ? send(metadata.resourceVersion) : overwrite(kind, metadata, send)
  }

  /** The state that `kubectl apply` compares with next time is not in memory, and must survive an update. */
  async function keepApplied(kind: Kind, metadata: Metadata): Promise<Record<string, string> | undefined> {
    const { annotations } = metadata
    if (caches[kind].find(metadata)?.isApplied !== true) return annotations
    const live = await readLive(kind, metadata)
    const all = live?.answer.metadata.annotations as Record<string, string> | undefined
    const applied = all?.[appliedAnnotation]
    return applied === undefined ? annotations : { ...annotations, [appliedAnnotation]: applied }
  }

  return {
    create<K extends Kind>(kind: K, { metadata, spec }: ResourceDraft<K>): Promise<ResourceOf<K>> {
      const { namespace, name } = metadata
      return send(kind, { metadata: { namespace, name, ...pickWritable(metadata) }, spec }, { verb: 'create' })
    },
    update: <K extends Kind>(kind: K, { metadata, spec }: ResourceOf<K>) =>
      write(kind, metadata, async (resourceVersion) => {
        const annotations = await keepApplied(kind, metadata)
        const written = { ...pickIdentity(metadata), ...pickWritable(metadata), annotations, resourceVersion }
        return send(kind, { metadata: written, spec }, { verb: 'update' })
      }),
    updateStatus: <K extends Kind>(kind: K, { metadata, status }: ResourceOf<K>) =>
      write(kind, metadata, (resourceVersion) => {
        const body = { metadata: { ...pickIdentity(metadata), resourceVersion }, status }
        return send(kind, body, { verb: 'update', subresource: 'status' })
      }),
    remove: createRemoval(exchange),
  }
}

/** Removal: the API server answers with the object while finalizers hold it, and with a plain Status when it is gone. */
function createRemoval({ api, caches, find, readLive, accept }: Exchange): ResourceWriter['remove'] {
  async function removeKnown<K extends Kind>(
    kind: K,
    known: CacheEntry,
    { uid, resourceVersion }: DeletePreconditions,
  ): Promise<ResourceOf<K>> {
    const { namespace, name } = known
    // The uid ensures that the removed object is the returned one.
    const preconditions = { uid: uid || known.uid, ...(resourceVersion && { resourceVersion }) }
    // The garbage collector then removes what the object owned.
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions }
    const target = { collection: collectionOf(kind), namespace, name }
    const answer = await api.request<ApiObject>({ verb: 'delete', ...target, body })
    if (answer.kind !== 'Status') return accept(kind, answer)
    caches[kind].noteRemoval(known)
    return JSON.parse(known.text)
  }

  /** Undefined when the cached one was replaced by another of the same name, and no particular one was requested. */
  async function tryRemoval<K extends Kind>(kind: K, known: CacheEntry, preconditions: DeletePreconditions) {
    try {
      return await removeKnown(kind, known, preconditions)
    } catch (error) {
      const isParticular = Boolean(preconditions.uid || preconditions.resourceVersion)
      if (isParticular || !isSvcError(error, 'Conflict')) throw translate(error, kind, known)
      return undefined
    }
  }

  return async function remove<K extends Kind>(kind: K, key: ResourceKey, preconditions: DeletePreconditions = {}) {
    let known = await find(kind, key)
    while (known !== undefined) {
      const removed = await tryRemoval(kind, known, preconditions)
      if (removed !== undefined) return removed
      known = (await readLive(kind, key))?.entry
    }
    throw describeMissing(kind, key)
  }
}
