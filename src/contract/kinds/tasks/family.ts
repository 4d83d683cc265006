// The task that owns a task, found by uid: names can be reused, and anybody may write a label.
import { apiVersion, type OwnerReference, reservedPrefix } from '../resources/metadata.ts'

/** Label of a task that repeats an earlier one: the name of that one, in the same namespace. Only the service sets it. */
export const retryOfLabel = `${reservedPrefix}retry-of`

/** One task; the uid distinguishes it from earlier tasks of the same name. */
export type TaskIdentity = { uid: string; name: string }

/** The task that created this one, or undefined. */
export function parentOf({
  metadata,
}: {
  metadata: { ownerReferences?: OwnerReference[] | undefined }
}): TaskIdentity | undefined {
  const owner = metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.kind === 'Task' && reference.apiVersion === apiVersion,
  )
  return owner && { uid: owner.uid, name: owner.name }
}
