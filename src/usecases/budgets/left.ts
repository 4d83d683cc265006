// What is left of the budgets that are for exactly what a line of usage is about.
import type { BudgetLeft } from '../../contract/api/budgets/usage.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import type { UsageGroup, UsageSum } from '../../ports/budgets/usage.ts'
import type { Ports } from '../../ports/index.ts'
import { endOfPeriod, type Limit, type LimitScope, spenderOf } from '../../rules/budgets/budget.ts'
import { leftWithin, type TaskLeft } from '../../rules/budgets/task-budget.ts'
import type { BudgetLedger, BudgetState } from './ledger.ts'
import type { TaskBudgets } from './task-budgets.ts'

export type BudgetsLeft = {
  /** For each sum its budgets; empty where there are none. */
  of(groupBy: UsageGroup, sums: readonly UsageSum[]): Promise<BudgetLeft[][]>
}

/** Tasks are looked up one by one: the first of the list, which have used most. */
const mostTasks = 200

/** Whether the scope names this and nothing else. */
function isExactly(scope: LimitScope, wanted: LimitScope): boolean {
  const fields = ['namespace', 'agent', 'token', 'caller'] as const
  return fields.every((field) => scope[field] === wanted[field])
}

/** A budget may also bound nothing but each single task. */
function boundsSum({ maxTokens, maxCost }: Limit): boolean {
  return maxTokens !== undefined || maxCost !== undefined
}

/** The scopes that a sum is about. */
function scopesOf(groupBy: UsageGroup, { key, namespace, caller }: UsageSum): LimitScope[] {
  if (groupBy === 'namespace') return [{ namespace: key }]
  if (groupBy === 'agent' && namespace !== undefined) return [{ namespace, agent: key }]
  if (groupBy !== 'caller') return []
  const id = caller?.id ?? key
  return [{ caller: id }, ...(caller?.kind === 'token' ? [{ token: id }] : [])]
}

function whatIsLeft(most: number | undefined, spent: number): number | undefined {
  return most === undefined ? undefined : Math.max(0, most - spent)
}

function describeState({ limit, spent, usedUp }: BudgetState, now: Date): BudgetLeft {
  const { name, maxTokens, maxCost, currency, period } = limit
  const cost = whatIsLeft(maxCost, spent.costs[currency] ?? 0)
  return dropUndefined({
    name,
    tokens: whatIsLeft(maxTokens, spent.tokens),
    cost,
    currency: cost === undefined ? undefined : currency,
    resetsAt: endOfPeriod(period, now)?.toISOString(),
    usedUp,
  })
}

function describeTask({ tokens, cost, durationMs, iterations }: TaskLeft, currency: string | undefined): BudgetLeft {
  return dropUndefined({
    tokens,
    cost,
    currency: cost === undefined ? undefined : currency,
    seconds: durationMs === undefined ? undefined : Math.floor(durationMs / 1000),
    iterations,
    usedUp: [tokens, cost, durationMs, iterations].includes(0),
  })
}

export function createBudgetsLeft(
  { resources, clock }: Pick<Ports, 'resources' | 'clock'>,
  { ledger, taskBudgets }: { ledger: BudgetLedger; taskBudgets: TaskBudgets },
): BudgetsLeft {
  async function ofTask({ namespace = '', key: name, taskUid }: UsageSum): Promise<BudgetLeft[]> {
    const task = await resources.get('Task', { namespace, name })
    // A later task of the same name has a budget of its own.
    if (task === undefined || task.metadata.uid !== taskUid) return []
    const left = await taskBudgets.left(task)
    const own = left === undefined ? [] : [describeTask(left, task.spec.budget?.currency)]
    const bounds = await ledger.taskBounds(spenderOf(task))
    const now = clock.now()
    return [
      ...own,
      ...bounds.map((bound) => ({ name: bound.name, ...describeTask(leftWithin(bound, task, now), undefined) })),
    ]
  }

  return {
    async of(groupBy, sums) {
      if (groupBy === 'task') {
        return Promise.all(sums.map((sum, at) => (at < mostTasks ? ofTask(sum) : [])))
      }
      if (sums.every((sum) => scopesOf(groupBy, sum).length === 0)) return sums.map(() => [])
      const states = await ledger.read()
      const now = clock.now()
      return sums.map((sum) => {
        const scopes = scopesOf(groupBy, sum)
        const own = states.filter(
          ({ limit }) => boundsSum(limit) && scopes.some((scope) => isExactly(limit.scope, scope)),
        )
        return own.map((state) => describeState(state, now))
      })
    },
  }
}
