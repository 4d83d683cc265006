// The task that owns a task, found by uid: names can be reused, and anybody may write a label.
import { apiVersion, type OwnerReference } from '../resources/metadata.ts'

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
