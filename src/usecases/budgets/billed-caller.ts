// Who a caller's calls are charged to: itself, or whoever stands at the root of the task that it acts for.
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import { attributionOf } from '../../rules/budgets/attribution.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'

/** The task that the caller acts for, if any. */
export async function findActingTask(resources: ResourceReader, { agent }: Caller): Promise<Task | undefined> {
  if (agent === undefined) return undefined
  const task = await resources.get('Task', { namespace: agent.namespace, name: agent.taskName })
  return task?.metadata.uid === agent.taskUid ? task : undefined
}

/** Undefined for a task that nobody asked for, such as the review of a monitor. */
export async function findBilledCaller(resources: ResourceReader, caller: Caller): Promise<RecordedCaller | undefined> {
  if (caller.agent === undefined) return identifyCaller(caller)
  const task = await findActingTask(resources, caller)
  return task && attributionOf(task).caller
}
