// Who coordinates: the running task of a worker's token, with its agent as it is now.
import { SvcError } from '../../errors.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import type { Coordinator } from '../../rules/coordination/delegation.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireRunningTask, type TaskPath } from '../tasks/worker/live-attempt.ts'

/**
 * Forbidden for a task other than the token's own and for an attempt that is not live; Conflict when its agent does not coordinate
 * (any more).
 */
export async function requireCoordinator(
  { ports }: UsecaseDeps,
  identity: WorkerIdentity,
  path: TaskPath,
): Promise<Coordinator> {
  const task = await requireRunningTask(ports.resources, identity, path)
  const key = agentKeyOf(task)
  const agent = key && (await ports.resources.get('Agent', key))
  const coordination = agent?.spec.coordination
  if (agent !== undefined && coordination?.enabled === true) return { task, agent, coordination }
  throw new SvcError('Conflict', `the agent of task "${path.taskName}" does not coordinate; set coordination.enabled`)
}

/** Forbidden for a namespace other than the coordinator's: children live where it lives. */
export function requireHome({ task }: Coordinator, namespace: string | undefined): void {
  const home = task.metadata.namespace
  if (namespace === undefined || namespace === home) return
  throw new SvcError('Forbidden', `tasks can only be made in namespace "${home}", not in "${namespace}"; leave it out`)
}
