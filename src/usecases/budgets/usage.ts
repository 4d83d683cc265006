// Sums of tokens and cost.

import type { BudgetLeft } from '../../contract/api/budgets/usage.ts'
import type { UsageQuery, UsageSum } from '../../ports/budgets/usage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createBudgetsLeft } from './left.ts'
import type { TaskBudgets } from './task-budgets.ts'

export type UsageUsecases = {
  /** With what is left of budgets. Without a namespace: of all that the caller may see. */
  sum(caller: Caller, query: UsageQuery): Promise<(UsageSum & { budgets?: BudgetLeft[] })[]>
}

export function createUsageUsecases({
  ports,
  ledger,
  taskBudgets,
}: UsecaseDeps & { taskBudgets: TaskBudgets }): UsageUsecases {
  const left = createBudgetsLeft(ports, { ledger, taskBudgets })
  return {
    async sum(caller, query) {
      const namespace = query.namespace ?? caller.boundNamespace
      const seen = namespace === undefined ? {} : { namespace }
      await requireAccess(ports, caller, { verb: 'list', kind: 'Usage', ...seen })
      const sums = await ports.records.usage.sum({ ...query, ...seen })
      const budgets = await left.of(query.groupBy, sums)
      return sums.map((sum, at) => ({ ...sum, ...(budgets[at]?.length ? { budgets: budgets[at] } : {}) }))
    },
  }
}
