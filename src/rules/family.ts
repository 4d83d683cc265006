// Which task a task belongs to: the one that owns it, by uid. Names are given again, and anybody may write a label.
import { apiVersion } from '../contract/resources/metadata.ts'
import type { Task } from '../contract/resources/task.ts'

/** A task, told from those that had its name before. */
export type TaskIdentity = { uid: string; name: string }

/** The task that made this one, or undefined. */
export function parentOf({
  metadata,
}: {
  metadata: Pick<Task['metadata'], 'ownerReferences'>
}): TaskIdentity | undefined {
  const owner = metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.kind === 'Task' && reference.apiVersion === apiVersion,
  )
  return owner && { uid: owner.uid, name: owner.name }
}

export function isChildOf(child: Task, parent: TaskIdentity): boolean {
  return parentOf(child)?.uid === parent.uid
}
