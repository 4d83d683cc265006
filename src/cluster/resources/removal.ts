// Removal: the API server answers with the object while finalizers hold it, and with a plain Status when it is gone.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { isSvcError } from '../../errors.ts'
import type { DeletePreconditions, ResourceKey, ResourceWriter } from '../../ports/resources/resources.ts'
import { describeMissing } from '../../store/watching/stored-object.ts'
import type { ApiObject } from '../reflector.ts'
import type { Entry } from './entry.ts'
import { collectionOf, type Exchange, translate } from './exchange.ts'

export function createRemoval({ api, caches, find, readLive, accept }: Exchange): ResourceWriter['remove'] {
  async function removeKnown<K extends Kind>(
    kind: K,
    known: Entry,
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
  async function tryRemoval<K extends Kind>(kind: K, known: Entry, preconditions: DeletePreconditions) {
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
