// The effect of a write on an object: generation, finalizers and preconditions as in the Kubernetes API. Pure.
import { isDeepStrictEqual } from 'node:util'
import { apiVersion, type Kind, type ObjectMeta } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import type { DeletePreconditions } from '../../ports/resources/resources.ts'
import { describeKey, type StoredObject } from '../watching/stored-object.ts'

/** The metadata that callers may write. */
type WritableMetadata = Pick<ObjectMeta, 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'>

export type Draft = { metadata: Partial<WritableMetadata> & { namespace: string; name: string }; spec: unknown }

type Incoming = { metadata: Partial<ObjectMeta>; spec?: unknown; status?: unknown }

/** Equal regardless of the order of keys. Objects nested too deeply to compare count as changed. */
function isSame(left: unknown, right: unknown): boolean {
  try {
    return isDeepStrictEqual(left, right)
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(left) === JSON.stringify(right)
    throw error
  }
}

function isFilled(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0
}

/** An empty map or list and an absent one are the same thing. */
function pickWritable(metadata: Partial<WritableMetadata>): Partial<WritableMetadata> {
  const { labels, annotations, finalizers, ownerReferences } = metadata
  return {
    ...(isFilled(labels) && { labels }),
    ...(isFilled(annotations) && { annotations }),
    ...(isFilled(finalizers) && { finalizers }),
    ...(isFilled(ownerReferences) && { ownerReferences }),
  }
}

/** RFC 3339 in whole seconds (HTTP-027). */
function formatSecond(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`
}

/** A new object; its resourceVersion is set when it is stored. */
export function makeObject(kind: Kind, draft: Draft, made: { uid: string; now: Date }): StoredObject {
  const { namespace, name } = draft.metadata
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid: made.uid,
      resourceVersion: '',
      generation: 1,
      creationTimestamp: formatSecond(made.now),
      ...pickWritable(draft.metadata),
    },
    spec: draft.spec,
  }
}

/** Conflict when the object is not, or no longer, the intended one. Absent and empty values match. */
export function checkPreconditions(current: StoredObject, expected: DeletePreconditions): void {
  const { uid, resourceVersion } = current.metadata
  const subject = describeKey(current.kind, current.metadata)
  if (expected.uid && expected.uid !== uid) {
    throw new SvcError('Conflict', `${subject} is not the object with uid ${expected.uid}: read it again`)
  }
  if (expected.resourceVersion && expected.resourceVersion !== resourceVersion) {
    const versions = `resourceVersion is ${resourceVersion}, not ${expected.resourceVersion}`
    throw new SvcError(
      'Conflict',
      `${subject} was changed in the meantime (${versions}): read it again and repeat the change`,
    )
  }
}

function checkFinalizers(current: StoredObject, next: Partial<WritableMetadata>): void {
  if (current.metadata.deletionTimestamp === undefined) return
  const added = next.finalizers?.find((finalizer) => !current.metadata.finalizers?.includes(finalizer))
  if (added === undefined) return
  const message = `no finalizer can be added while the object is being deleted: remove "${added}"`
  throw new SvcError('InvalidRequest', message, { details: [{ path: 'metadata.finalizers', message }] })
}

function keepServerSet(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  }
}

/** The object after an update: spec and writable metadata come from the caller, the rest stays. */
export function applyUpdate(current: StoredObject, incoming: Incoming): StoredObject {
  const writable = pickWritable(incoming.metadata)
  checkFinalizers(current, writable)
  const metadata = { ...keepServerSet(current.metadata), ...writable }
  if (!isSame(current.spec, incoming.spec)) metadata.generation += 1
  return { ...current, metadata, spec: incoming.spec }
}

/** The object after a status write: only status is taken over. */
export function applyStatus(current: StoredObject, incoming: Incoming): StoredObject {
  const { status: _replaced, ...rest } = current
  return incoming.status === undefined ? rest : { ...rest, status: incoming.status }
}

/** The object with its deletion started; unchanged when it was started before. */
export function markDeleted(current: StoredObject, now: Date): StoredObject {
  if (current.metadata.deletionTimestamp !== undefined) return current
  const { labels, annotations, finalizers, ownerReferences, ...rest } = current.metadata
  const writable = pickWritable({ labels, annotations, finalizers, ownerReferences })
  return { ...current, metadata: { ...rest, deletionTimestamp: formatSecond(now), ...writable } }
}

/** Whether nothing holds the object back any more. */
export function isGone(object: StoredObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && !isFilled(object.metadata.finalizers)
}

export function isUnchanged(current: StoredObject, next: StoredObject): boolean {
  return isSame(current, next)
}
