// What a run may still use.

import { dropUndefined } from '../../contract/json.ts'
import type { Task, TaskSpec } from '../../contract/resources/task.ts'
import { findCondition } from '../../rules/conditions.ts'
import type { ActiveRun } from './active-run.ts'
import { RunFailure, type ScanContext } from './context.ts'
import { listRunTasks, sumUsage } from './tasks.ts'

/** The budget of the next task; undefined: the scan sets none. RunFailure when nothing is left. */
export async function remainingBudget(context: ScanContext, { scan, run }: ActiveRun): Promise<TaskSpec['budget']> {
  const { budget } = scan.spec
  if (budget === undefined) return undefined
  return leftOf(budget, sumUsage(await listRunTasks(context, scan, run.id)))
}

type Budget = { maxTokens?: number | undefined; maxCost?: number | undefined }

/** RunFailure when nothing is left. */
export function leftOf({ maxTokens, maxCost }: Budget, used: { tokens: number; cost: number }): TaskSpec['budget'] {
  const tokens = maxTokens === undefined ? undefined : maxTokens - used.tokens
  const cost = maxCost === undefined ? undefined : maxCost - used.cost
  if ((tokens === undefined || tokens > 0) && (cost === undefined || cost > 0))
    return dropUndefined({ maxTokens: tokens, maxCost: cost, currency: 'USD' })
  throw usedUp({ maxTokens, maxCost })
}

function usedUp({ maxTokens, maxCost }: Budget): RunFailure {
  const limit = [maxTokens && `${maxTokens} tokens`, maxCost && `${maxCost} USD`].filter(Boolean).join(' and ')
  const advice = 'raise spec.budget and retry what was not reviewed (retryFailed)'
  return new RunFailure('BudgetExceeded', `the budget of the run (${limit}) is used up; ${advice}`)
}

/** RunFailure when a task of the run is short of it: its slice is left to review. */
export function requireBudget({ scan: { spec } }: ActiveRun, tasks: readonly Task[]): void {
  if (spec.budget !== undefined && tasks.some(isShort)) throw usedUp(spec.budget)
}

/** Whether the task ended because nothing was left for it. */
export function isShort({ status }: Task): boolean {
  return findCondition(status?.conditions, 'Complete')?.reason === 'BudgetExceeded'
}
