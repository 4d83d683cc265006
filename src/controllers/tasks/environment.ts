// The environment variables of a task's code, plain or from other resources, and the command that gets them.
import type { EnvVar } from '../../contract/kinds/tasks/execution.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readAmount, readTaskField } from '../../contract/kinds/tasks/task-problems.ts'
import { isSvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readConfigEntry, readEntry } from '../../lookup/entries.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { WorkloadLimits, WorkloadRun } from '../../ports/tasks/workloads.ts'
import { listTransactionVariables } from '../../rules/identity/token-propagation.ts'
import { isMarkerKey } from '../../rules/monitors/review-marker.ts'
import { hasNetwork } from '../../rules/tasks/bounds.ts'
import { parentOf } from '../../rules/tasks/stamp.ts'

export type TaskEnvironment = {
  variables: Record<string, string>
  /** The values that come from secrets. */
  secrets: string[]
}

type EnvironmentDeps = { secrets: Secrets; configMaps: ConfigMaps }

async function readOptional<T>(isOptional: boolean | undefined, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isOptional === true && isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}

type TaskWithLimits = { task: Task; limits: WorkloadLimits }
type Resolved = { value: string; isSecret: boolean } | undefined

async function resolveReference(deps: EnvironmentDeps, task: Task, variable: EnvVar): Promise<Resolved> {
  const { secretKeyRef, configMapKeyRef } = variable.valueFrom ?? {}
  const { namespace } = task.metadata
  const owner = `variable ${variable.name}`
  if (secretKeyRef !== undefined) {
    const { name, key: entry, optional } = secretKeyRef
    const read = () => readEntry(deps.secrets, { namespace, name }, { entry, owner, forCode: true })
    const found = await readOptional(optional, read)
    return found && { value: found.value, isSecret: true }
  }
  if (configMapKeyRef === undefined) return undefined
  const { name, key: entry, optional } = configMapKeyRef
  const read = () => readConfigEntry(deps.configMaps, { namespace, name }, { entry, owner })
  const value = await readOptional(optional, read)
  return value === undefined ? undefined : { value, isSecret: false }
}

async function resolveVariable(deps: EnvironmentDeps, attempt: TaskWithLimits, variable: EnvVar): Promise<Resolved> {
  const { fieldRef, resourceFieldRef } = variable.valueFrom ?? {}
  if (fieldRef !== undefined) return { value: readTaskField(attempt.task, fieldRef.fieldPath), isSecret: false }
  if (resourceFieldRef !== undefined) return { value: readAmount(attempt.limits, resourceFieldRef), isSecret: false }
  if (variable.valueFrom !== undefined) return await resolveReference(deps, attempt.task, variable)
  return { value: variable.value ?? '', isSecret: false }
}

/** NotFound when the source of a variable does not exist (yet). */
export async function resolveEnvironment(deps: EnvironmentDeps, attempt: TaskWithLimits): Promise<TaskEnvironment> {
  const variables: Record<string, string> = {}
  const secrets: string[] = []
  for (const variable of attempt.task.spec.env ?? []) {
    if (isMarkerKey(variable.name)) continue
    const resolved = await resolveVariable(deps, attempt, variable)
    if (resolved === undefined) continue
    variables[variable.name] = resolved.value
    if (resolved.isSecret) secrets.push(resolved.value)
  }
  return { variables, secrets }
}

/** Variables that the service sets; they overwrite the task's own values. */
function listOwnVariables(task: Task): Record<string, string> {
  return dropUndefined({
    SVC_TASK_NAME: task.metadata.name,
    SVC_TASK_NAMESPACE: task.metadata.namespace,
    SVC_TASK_UID: task.metadata.uid,
    SVC_PARENT_TASK: parentOf(task)?.name,
    SVC_SESSION_NAME: task.spec.sessionRef?.name,
    SVC_ARTIFACTS_DIR: task.spec.artifactsDir,
    ...listTransactionVariables(task.spec.transaction),
  })
}

type CommandParts = {
  environment: TaskEnvironment
  /** Values of secrets that it receives in other ways. */
  secrets: string[]
  /** The task's own context token. */
  token: string | undefined
}

export function buildCommand(task: Task, { environment, secrets, token }: CommandParts): WorkloadRun {
  const { image, command = [], args = [], artifactsDir } = task.spec
  return {
    kind: 'command',
    image,
    artifactsDir,
    command,
    args,
    env: { ...environment.variables, ...listOwnVariables(task) },
    redact: [...(token === undefined ? [] : [token]), ...environment.secrets, ...secrets],
    transactionToken: token,
    ...(hasNetwork(task) ? {} : { network: 'none' as const }),
  }
}
