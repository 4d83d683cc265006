// The task of an attempt, for as long as that is the live one. Where that is refused, or taken for gone, something ends, so that a
// replica which is behind asks the source first.
import { hasAttempt, type Task } from '../contract/kinds/tasks/task.ts'
import type { WorkerIdentity } from '../ports/identity/identity.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'

/** What is known has not come as far as the attempt: another replica has just created the task, or begun this attempt. */
function isBehind(task: Task | undefined, { taskUid, attempt }: WorkerIdentity): boolean {
  return task?.metadata.uid !== taskUid || (task.status?.attempts ?? 0) < attempt
}

/** Undefined when the attempt is not, or no longer, the live one. */
export async function findLiveTask(
  resources: Pick<ResourceReader, 'get'>,
  attempt: WorkerIdentity,
): Promise<Task | undefined> {
  const key = { namespace: attempt.namespace, name: attempt.taskName }
  const known = await resources.get('Task', key)
  const task = isBehind(known, attempt) ? await resources.get('Task', key, { latest: true }) : known
  const isLive = task?.metadata.uid === attempt.taskUid && task.status?.attempts === attempt.attempt
  return isLive && hasAttempt(task.status) ? task : undefined
}

/** Whether an attempt is the live one. */
export function isLiveIn(resources: Pick<ResourceReader, 'get'>): (attempt: WorkerIdentity) => Promise<boolean> {
  return async (attempt) => (await findLiveTask(resources, attempt)) !== undefined
}
