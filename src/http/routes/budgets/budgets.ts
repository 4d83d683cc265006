// Budgets and what is spent of them.
import * as routes from '../../../contract/api/budgets/budgets.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../route-context.ts'

export function bindBudgets(bind: Bind, { usecases: { budgets } }: RouteContext): void {
  bind(routes.listBudgets, async ({ caller }) => ({ json: { items: await budgets.list(caller), metadata: {} } }))
  bind(routes.putBudget, async ({ caller, params, body }) => ({ json: await budgets.put(caller, params.name, body) }))
  bind(routes.deleteBudget, async ({ caller, params }) => {
    await budgets.remove(caller, params.name)
    return { empty: true }
  })
}
