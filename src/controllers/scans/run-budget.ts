// What a run may still use.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../lib/json.ts'
import { findCondition } from '../../rules/resources/conditions.ts'
import { type ActiveRun, type ScanContext, ScanRunFailure } from './context.ts'
import { listRunTasks, sumTaskUsage } from './tasks.ts'

type Used = { tokens: number; cost: number }

/** Of all tasks of a run, with the validations and patches of what it found; not less than before, when tasks are gone. */
async function readUsed(context: ScanContext, scan: RepositoryScan, runId: string): Promise<Used> {
  const stored = await context.records.scans.getRun(scan.metadata.uid, runId)
  const sum = sumTaskUsage(await listRunTasks(context, scan, runId))
  return { tokens: Math.max(sum.tokens, stored?.tokens ?? 0), cost: Math.max(sum.cost, stored?.cost ?? 0) }
}

/** The budget of the next task of the run; undefined: the scan sets none. RunFailure when nothing is left. */
export async function remainingBudget(
  context: ScanContext,
  scan: RepositoryScan,
  runId: string,
): Promise<TaskSpec['budget']> {
  const { budget } = scan.spec
  return budget && budgetLeft(budget, await readUsed(context, scan, runId))
}

/** Records what a run has used, also after its end. */
export async function countRunUsage(context: ScanContext, scan: RepositoryScan, runId: string): Promise<void> {
  await context.records.scans.countUsage(scan.metadata.uid, runId, await readUsed(context, scan, runId))
}

type Budget = { maxTokens?: number | undefined; maxCost?: number | undefined }

/** RunFailure when nothing is left. */
export function budgetLeft({ maxTokens, maxCost }: Budget, used: Used): TaskSpec['budget'] {
  const tokens = maxTokens === undefined ? undefined : maxTokens - used.tokens
  const cost = maxCost === undefined ? undefined : maxCost - used.cost
  if ((tokens === undefined || tokens > 0) && (cost === undefined || cost > 0))
    return dropUndefined({ maxTokens: tokens, maxCost: cost, currency: 'USD' })
  throw usedUp({ maxTokens, maxCost })
}

function usedUp({ maxTokens, maxCost }: Budget): ScanRunFailure {
  const limit = [maxTokens && `${maxTokens} tokens`, maxCost && `${maxCost} USD`].filter(Boolean).join(' and ')
  const advice = 'raise spec.budget, and ask again for what is missing (reviews: retryFailed)'
  return new ScanRunFailure('BudgetExceeded', `the budget of the run (${limit}) is used up; ${advice}`)
}

/** RunFailure when a task of the run is short of it: its slice is left to review. */
export function requireBudget({ scan: { spec } }: ActiveRun, tasks: readonly Task[]): void {
  if (spec.budget !== undefined && tasks.some(isShort)) throw usedUp(spec.budget)
}

/** Whether the task ended because nothing was left for it. */
export function isShort({ status }: Task): boolean {
  return findCondition(status?.conditions, 'Complete')?.reason === 'BudgetExceeded'
}
