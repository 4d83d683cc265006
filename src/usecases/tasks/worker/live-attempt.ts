// Whether the bearer of a worker token is the live attempt (TASK-045): read from the resource each time, and where
// this replica is behind from its source: a refusal ends the attempt.
import { hasAttempt, type Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { ResourceReader } from '../../../ports/resources/resources.ts'

export type TaskPath = { namespace: string; taskName: string }

function isLive(task: Task | undefined, identity: WorkerIdentity): task is Task {
  return (
    task !== undefined &&
    task.metadata.uid === identity.taskUid &&
    hasAttempt(task.status) &&
    task.status?.attempts === identity.attempt
  )
}

/** What is known has not come as far as the token: another replica has just created the task, or begun this attempt. */
function isBehind(task: Task | undefined, identity: WorkerIdentity): boolean {
  return task?.metadata.uid !== identity.taskUid || (task.status?.attempts ?? 0) < identity.attempt
}

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
  const key = { namespace: identity.namespace, name: identity.taskName }
  const known = await resources.get('Task', key)
  const task = isBehind(known, identity) ? await resources.get('Task', key, { latest: true }) : known
  if (isLive(task, identity)) return task
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
