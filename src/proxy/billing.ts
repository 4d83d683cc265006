// Who pays for a request: the caller, or the task that an agent's token was issued for.
import type { AgentGrant } from '../ports/identity/identity.ts'
import type { Ports } from '../ports/index.ts'
import { type BudgetSubject, budgetSubjectOf, type Limit } from '../rules/budgets/budget.ts'
import { identifyCaller, identifyTask } from '../rules/identity/caller-identity.ts'
import type { BudgetLedger } from '../usecases/budgets/ledger.ts'
import type { TaskBudgetChecks } from '../usecases/budgets/task-budgets.ts'
import { requireLiveAttempt } from '../usecases/tasks/worker/live-attempt.ts'
import type { ProxyRequest } from './request.ts'

/** A request and who its calls are charged to. */
export type BilledRequest = ProxyRequest & { billedTo: BudgetSubject; own: Limit | undefined }

export type SpendingDeps = { ports: Ports; ledger: BudgetLedger; taskBudgets: TaskBudgetChecks }

/** The task's budget is one more limit in the ledger. */
function limitOf({ taskUid, maxTokens }: AgentGrant): Limit {
  return { name: '', scope: { taskUid }, period: 'total', maxTokens, currency: 'USD' }
}

/** An agent's token is valid while its attempt is live: Forbidden afterwards. */
async function findAgentSubject(
  { ports, taskBudgets }: SpendingDeps,
  { namespace, endpoint }: ProxyRequest,
  agent: AgentGrant,
): Promise<BudgetSubject> {
  const task = await requireLiveAttempt(ports.resources, agent)
  if (endpoint !== 'count_tokens') await taskBudgets.require(task)
  const billedTo = budgetSubjectOf(task)
  return { ...billedTo, namespace, caller: billedTo.caller ?? identifyTask(agent) }
}

/**
 * BudgetExceeded when a budget of the request is used up. Concurrent calls are not known yet, and a call that started
 * within the budget is finished. Counting tokens costs nothing.
 */
export async function requireSpending(deps: SpendingDeps, request: ProxyRequest): Promise<BilledRequest> {
  const { caller, namespace, endpoint } = request
  const { agent } = caller
  const billedTo =
    agent === undefined ? { namespace, caller: identifyCaller(caller) } : await findAgentSubject(deps, request, agent)
  const own = agent && limitOf(agent)
  const waiting = endpoint === 'count_tokens' ? undefined : deps.ledger.require(billedTo, own)
  if (waiting !== undefined) await waiting
  return Object.assign(request, { billedTo, own })
}
