// Whether the bearer of a worker token is the live attempt (TASK-045): read from the resource each time.
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { findLiveTask } from '../../../lookup/live-task.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { ResourceReader } from '../../../ports/resources/resources.ts'

export type TaskPath = { namespace: string; taskName: string }

/** Forbidden when the path is for another namespace. */
export function requireOwnNamespace(identity: WorkerIdentity, namespace: string): void {
  if (identity.namespace === namespace) return
  throw new SvcError('Forbidden', `this token is for namespace "${identity.namespace}", not "${namespace}"`)
}

/** Forbidden when the path is for another task. */
export function requireOwnTask(identity: WorkerIdentity, path: TaskPath): void {
  requireOwnNamespace(identity, path.namespace)
  if (identity.taskName === path.taskName) return
  throw new SvcError('Forbidden', `this token is for task "${identity.taskName}", not "${path.taskName}"`)
}

/** The task while this attempt of it is live; Forbidden afterwards. */
export async function requireLiveAttempt(resources: ResourceReader, identity: WorkerIdentity): Promise<Task> {
  const task = await findLiveTask(resources, identity)
  if (task !== undefined) return task
  throw new SvcError(
    'Forbidden',
    `attempt ${identity.attempt} of task "${identity.taskName}" is no longer the live one`,
  )
}

/** The task of the path, if it is the token's own and this attempt is live. */
export async function requireRunningTask(
  resources: ResourceReader,
  identity: WorkerIdentity,
  path: TaskPath,
): Promise<Task> {
  requireOwnTask(identity, path)
  return requireLiveAttempt(resources, identity)
}
