// The command of a container task with its resolved environment.

import type { Task } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import type { WorkloadRun } from '../../ports/tasks/workloads.ts'
import { listTransactionVariables } from '../../rules/identity/token-propagation.ts'
import { parentOf } from '../../rules/tasks/family.ts'
import { hasNetwork } from '../../rules/tasks/task-bounds.ts'
import type { Environment } from './environment.ts'

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
