// The command of a container task with its resolved environment.
import type { Task } from '../../contract/resources/task.ts'
import type { WorkloadRun } from '../../ports/workloads.ts'
import { parentOf } from '../../rules/family.ts'
import { listTransactionVariables } from '../../rules/token-propagation.ts'
import type { Environment } from './environment.ts'

/** Variables that the service sets; they overwrite the task's own values. */
function listOwnVariables(task: Task): Record<string, string> {
  const parent = parentOf(task)
  const session = task.spec.sessionRef?.name
  return {
    SVC_TASK_NAME: task.metadata.name,
    SVC_TASK_NAMESPACE: task.metadata.namespace,
    SVC_TASK_UID: task.metadata.uid,
    ...(parent !== undefined && { SVC_PARENT_TASK: parent.name }),
    ...(session !== undefined && { SVC_SESSION_NAME: session }),
    ...(task.spec.artifactsDir !== undefined && { SVC_ARTIFACTS_DIR: task.spec.artifactsDir }),
    ...listTransactionVariables(task.spec.transaction),
  }
}

type CommandParts = {
  environment: Environment
  /** Values of secrets that it receives in other ways. */
  secrets: string[]
  /** The task's own context token. */
  token: string | undefined
}

export function buildCommand(task: Task, { environment, secrets, token }: CommandParts): WorkloadRun {
  const { image, command = [], args = [], artifactsDir } = task.spec
  return {
    kind: 'command',
    ...(image !== undefined && { image }),
    ...(artifactsDir !== undefined && { artifactsDir }),
    command,
    args,
    env: { ...environment.variables, ...listOwnVariables(task) },
    redact: [...(token === undefined ? [] : [token]), ...environment.secrets, ...secrets],
    ...(token !== undefined && { transactionToken: token }),
  }
}
