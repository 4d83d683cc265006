// Which alerts a budget and an approval raise. The same cause always has the same id, so that it is raised once.
import type { AlertFacts } from '../../contract/api/budgets/alerts.ts'
import type { Backoff } from '../../lib/backoff.ts'
import { type Limit, type Spent, startOfPeriod } from './budget.ts'

/** Percent of a budget that are worth a word. */
const alertThresholds = [50, 80, 100] as const

export const alertBackoff: Backoff = { firstMs: 5_000, maxMs: 3_600_000 }
/** It is not sent any more this long after it was raised. */
export const alertWindowMs = 86_400_000

function percentOf(used: number, max: number | undefined): number {
  if (max === undefined) return 0
  return max === 0 ? 100 : (used / max) * 100
}

/** The highest threshold that was reached: whoever is told of 100 percent needs not be told of 80 at the same time. */
export function findBudgetAlert(limit: Limit, spent: Spent, now: Date): AlertFacts | undefined {
  const percent = Math.max(percentOf(spent.tokens, limit.maxTokens), percentOf(spent.cost, limit.maxCost))
  const threshold = alertThresholds.findLast((one) => percent >= one)
  if (threshold === undefined) return undefined
  const start = startOfPeriod(limit.period, now)?.toISOString().slice(0, 10) ?? 'total'
  const state = threshold === 100 ? 'is used up' : `has reached ${threshold} %`
  const period = limit.period === 'total' ? '' : ` of this ${limit.period}`
  return {
    id: `budget/${limit.name}/${limit.period}/${start}/${threshold}`,
    kind: 'budget',
    name: limit.name,
    threshold,
    message: `the budget "${limit.name}"${period} ${state}`,
    createdAt: now.toISOString(),
  }
}

type Waiting = { id: string; namespace: string; taskName: string; tool: string }

export function makeApprovalAlert({ id, namespace, taskName, tool }: Waiting, now: Date): AlertFacts {
  return {
    id: `approval/${id}`,
    kind: 'approval',
    name: id,
    namespace,
    task: taskName,
    message: `task "${taskName}" in namespace "${namespace}" waits for an approval of ${tool}`,
    createdAt: now.toISOString(),
  }
}
