// What a worker is told about the coordination of its agent.
import type { AssignedCoordination, AssignedPlan } from '../../contract/api/assigned-coordination.ts'
import { autonomyOf } from '../../rules/iteration.ts'
import type { NewAttempt } from './references.ts'
import type { TaskControllerDeps } from './settings.ts'

/** Undefined when the agent does not coordinate. */
export async function assignCoordination(
  deps: Pick<TaskControllerDeps, 'records'>,
  { task, references: { agent } }: NewAttempt,
): Promise<AssignedCoordination | undefined> {
  if (agent?.spec.coordination?.enabled !== true) return undefined
  const iteration = task.status?.iteration ?? 0
  const autonomy = autonomyOf(agent)
  if (autonomy === undefined) return { iteration }
  const plan = await readPlan(deps, task.metadata.uid)
  return { iteration, autonomous: { maxIterations: autonomy.maxIterations, ...(plan && { plan }) } }
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
