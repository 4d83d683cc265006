// Budgets for whoever runs the service: create, list with what is spent, remove.
import type { BudgetItem, BudgetSpec } from '../../contract/api/budgets/budgets.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { BudgetState } from './ledger.ts'

export type BudgetUsecases = {
  /** By name. */
  list(caller: Caller): Promise<BudgetItem[]>
  /** NotFound. */
  get(caller: Caller, name: string): Promise<BudgetItem>
  /** Takes effect on this replica at once, on others within seconds. */
  put(caller: Caller, name: string, spec: BudgetSpec): Promise<BudgetItem>
  /** NotFound. */
  remove(caller: Caller, name: string): Promise<void>
}

function toItem({ limit, spent, since, usedUp }: BudgetState): BudgetItem {
  const { name, scope, period, maxTokens, maxCost, currency, maxTaskDuration, maxTaskIterations } = limit
  return {
    name,
    spec: { scope, period, maxTokens, maxCost, currency, maxTaskDuration, maxTaskIterations },
    spent: {
      tokens: spent.tokens,
      cost: spent.costs[currency] ?? 0,
      unpricedCalls: spent.unpricedCalls,
      since: since?.toISOString(),
    },
    usedUp,
  }
}

export function createBudgetUsecases({ ports, ledger }: UsecaseDeps): BudgetUsecases {
  const { budgets } = ports.records
  const read = async () => (await ledger.read()).map(toItem)
  return {
    async list(caller) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Budget' })
      return read()
    },
    async get(caller, name) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'Budget', name })
      const found = (await read()).find((item) => item.name === name)
      if (found === undefined) throw new SvcError('NotFound', `there is no budget "${name}"`)
      return found
    },
    async put(caller, name, spec) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Budget', name })
      await budgets.put({ name, spec })
      const made = (await read()).find((item) => item.name === name)
      // Somebody else removed it in between.
      if (made === undefined)
        throw new SvcError('Conflict', `the budget "${name}" was removed in the meantime; try again`)
      return made
    },
    async remove(caller, name) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Budget', name })
      if (!(await budgets.remove(name))) throw new SvcError('NotFound', `there is no budget "${name}"`)
      await ledger.read()
    },
  }
}
