// The command of a container task, its environment resolved.

import { readEntry } from '../../catalog/secret-entry.ts'
import type { EnvVar } from '../../contract/resources/execution.ts'
import type { Task } from '../../contract/resources/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { WorkloadRun } from '../../ports/workloads.ts'
import { parentOf } from '../../rules/family.ts'
import { listTransactionVariables } from '../../rules/token-propagation.ts'

type Resolved = { value: string; secret: boolean } | undefined

async function readSecretEntry(secrets: Secrets, task: Task, env: EnvVar): Promise<Resolved> {
  const reference = env.valueFrom?.secretKeyRef
  if (reference === undefined) return undefined
  const key = { namespace: task.metadata.namespace, name: reference.name }
  try {
    const { value } = await readEntry(secrets, key, { entry: reference.key, owner: `variable ${env.name}` })
    return { value, secret: true }
  } catch (error) {
    if (reference.optional === true && isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}

function readField(task: Task, env: EnvVar): Resolved {
  const path = env.valueFrom?.fieldRef?.fieldPath
  const fields: Record<string, string> = {
    'metadata.name': task.metadata.name,
    'metadata.namespace': task.metadata.namespace,
    'metadata.uid': task.metadata.uid,
  }
  const value = path === undefined ? undefined : fields[path]
  if (value !== undefined) return { value, secret: false }
  throw new SvcError(
    'InvalidRequest',
    `variable ${env.name} can not be read from ${path ?? 'there'}; use value, secretKeyRef or fieldRef ${Object.keys(fields).join(', ')}`,
  )
}

async function resolveVariable(secrets: Secrets, task: Task, env: EnvVar): Promise<Resolved> {
  const source = env.valueFrom
  if (source === undefined) return { value: env.value ?? '', secret: false }
  if (source.secretKeyRef !== undefined) return await readSecretEntry(secrets, task, env)
  if (source.configMapKeyRef?.optional === true) return undefined
  return readField(task, env)
}

/** Names that the service sets; a task's own values for them are overwritten. */
function listOwnVariables(task: Task): Record<string, string> {
  const parent = parentOf(task)
  const session = task.spec.sessionRef?.name
  return {
    SVC_TASK_NAME: task.metadata.name,
    SVC_TASK_NAMESPACE: task.metadata.namespace,
    SVC_TASK_UID: task.metadata.uid,
    ...(parent !== undefined && { SVC_PARENT_TASK: parent.name }),
    ...(session !== undefined && { SVC_SESSION_NAME: session }),
    ...listTransactionVariables(task.spec.transaction),
  }
}

/** `token`: the task's own context token. */
export async function buildCommand(secrets: Secrets, task: Task, token: string | undefined): Promise<WorkloadRun> {
  const env: Record<string, string> = {}
  const redact: string[] = token === undefined ? [] : [token]
  for (const variable of task.spec.env ?? []) {
    const resolved = await resolveVariable(secrets, task, variable)
    if (resolved === undefined) continue
    env[variable.name] = resolved.value
    if (resolved.secret) redact.push(resolved.value)
  }
  const { image, command = [], args = [] } = task.spec
  return {
    kind: 'command',
    ...(image !== undefined && { image }),
    command,
    args,
    env: { ...env, ...listOwnVariables(task) },
    redact,
    ...(token !== undefined && { transactionToken: token }),
  }
}
