// The context token that was issued for a task: kept in its own Secret, which the task's annotation names.
import type { Task } from '../contract/kinds/tasks/task.ts'
import { SvcError } from '../errors.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { secretOwnerAnnotation, tokenSecretKey, transactionAnnotations } from '../rules/identity/token-propagation.ts'

export type TaskToken = { token: string; key: ResourceKey; ownerUid: string }

/** Name of the Secret; undefined for a task without one. */
export function nameTokenSecret({ metadata, spec }: Task): ResourceKey | undefined {
  const name = metadata.annotations?.[transactionAnnotations.tokenSecret]
  return name === undefined || spec.transaction === undefined ? undefined : { namespace: metadata.namespace, name }
}

/**
 * Undefined for a task that was given none. InvalidRequest when its Secret is missing or belongs to another task: the
 * annotation alone must not be able to send just any Secret with a tool call.
 */
export async function readTaskToken(secrets: Secrets, task: Task): Promise<TaskToken | undefined> {
  const key = nameTokenSecret(task)
  if (key === undefined) return undefined
  const [metadata, values] = await Promise.all([secrets.describe(key), secrets.read(key)])
  const ownerUid = metadata?.annotations[secretOwnerAnnotation]
  const token = values?.[tokenSecretKey]
  // It belongs to the parent until the child takes it over (reference 3.7).
  const owners = [task.metadata.uid, ...(task.metadata.ownerReferences ?? []).map(({ uid }) => uid)]
  if (token !== undefined && token !== '' && ownerUid !== undefined && owners.includes(ownerUid)) {
    return { token, key, ownerUid }
  }
  throw new SvcError(
    'InvalidRequest',
    `the transaction token of task "${task.metadata.name}" no longer exists; create the task again`,
  )
}
