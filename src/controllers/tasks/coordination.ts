// What a worker is told about the coordination of its agent.
import type { AssignedCoordination, AssignedPlan } from '../../contract/api/coordination/assigned-coordination.ts'
import { isPrMonitor } from '../../rules/codehost/code-host-tools.ts'
import { autonomyOf } from '../../rules/tasks/iteration.ts'
import { siblingsOf } from './context.ts'
import type { NewAttempt } from './references.ts'
import type { TaskControllerDeps } from './settings.ts'

/** Undefined when the agent does not coordinate, and nobody coordinates the task; and for a monitor of pull requests. */
export async function assignCoordination(
  deps: Pick<TaskControllerDeps, 'records'>,
  { task, references: { agent } }: NewAttempt,
): Promise<AssignedCoordination | undefined> {
  const iteration = task.status?.iteration ?? 0
  const { enabled = false, approvalRequiredTools } = agent?.spec.coordination ?? {}
  if (isPrMonitor(task)) return undefined
  if (!enabled) return siblingsOf(task) === undefined ? undefined : { iteration, coordinates: false }
  const common = { iteration, coordinates: true, ...(approvalRequiredTools && { approvalRequiredTools }) }
  const autonomy = autonomyOf(agent)
  if (autonomy === undefined) return common
  const plan = await readPlan(deps, task.metadata.uid)
  return { ...common, autonomous: { maxIterations: autonomy.maxIterations, ...(plan && { plan }) } }
}

async function readPlan(
  { records }: Pick<TaskControllerDeps, 'records'>,
  taskUid: string,
): Promise<AssignedPlan | undefined> {
  const found = await records.plans?.get(taskUid)
  if (found === undefined) return undefined
  const { iteration, summary, progressPct, planDocument } = found
  return { iteration, summary, progressPct, planDocument }
}
