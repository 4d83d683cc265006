// The context token that was made for a task: kept in a Secret of its own, which the task's annotation names.
import type { Task } from '../contract/resources/task.ts'
import { SvcError } from '../errors.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { Secrets } from '../ports/secrets.ts'
import { secretOwnerAnnotation, tokenSecretKey, transactionAnnotations } from '../rules/token-propagation.ts'

export type TaskToken = { token: string; key: ResourceKey; ownerUid: string }

/** Name of the Secret; undefined for a task that has none. */
export function nameTokenSecret({ metadata, spec }: Task): ResourceKey | undefined {
  const name = metadata.annotations?.[transactionAnnotations.tokenSecret]
  return name === undefined || spec.transaction === undefined ? undefined : { namespace: metadata.namespace, name }
}

/**
 * Undefined for a task that was given none. InvalidRequest when its Secret is gone or somebody else's: an annotation alone
 * must not make a tool's call carry whatever Secret it names.
 */
export async function readTaskToken(secrets: Secrets, task: Task): Promise<TaskToken | undefined> {
  const key = nameTokenSecret(task)
  if (key === undefined) return undefined
  const [metadata, values] = await Promise.all([secrets.describe(key), secrets.read(key)])
  const ownerUid = metadata?.annotations[secretOwnerAnnotation]
  const token = values?.[tokenSecretKey]
  // The parent's until the child has it (reference 3.7).
  const owners = [task.metadata.uid, ...(task.metadata.ownerReferences ?? []).map(({ uid }) => uid)]
  if (token !== undefined && token !== '' && ownerUid !== undefined && owners.includes(ownerUid)) {
    return { token, key, ownerUid }
  }
  throw new SvcError(
    'InvalidRequest',
    `the transaction token of task "${task.metadata.name}" is gone; create the task anew`,
  )
}
