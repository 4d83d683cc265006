// Sums of tokens and cost.
import type { BudgetLeft, UsageGroup } from '../../contract/api/budgets/usage.ts'
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { UsageQuery, UsageSum } from '../../ports/budgets/usage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { budgetSubjectOf, endOfPeriod, type Limit, type LimitScope } from '../../rules/budgets/budget.ts'
import { leftWithin, type TaskLeft } from '../../rules/budgets/task-budget.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { BudgetLedger, BudgetState } from './ledger.ts'
import type { TaskBudgetChecks } from './task-budgets.ts'

export type UsageUsecases = {
  /** With what is left of budgets. Without a namespace: of all that the caller may see. */
  sum(caller: Caller, query: UsageQuery): Promise<(UsageSum & { budgets?: BudgetLeft[] })[]>
}

export function createUsageUsecases({
  ports,
  ledger,
  taskBudgets,
}: UsecaseDeps & { taskBudgets: TaskBudgetChecks }): UsageUsecases {
  const left = createBudgetsLeft(ports, { ledger, taskBudgets })
  return {
    async sum(caller, query) {
      const namespace = query.namespace ?? caller.boundNamespace
      if (query.groupBy === 'label' && query.label === undefined)
        throw new SvcError('InvalidRequest', 'groupBy=label needs label, the key of the label to sum by')
      const seen = namespace === undefined ? {} : { namespace }
      await requireAccess(ports, caller, { verb: 'list', kind: 'Usage', ...seen })
      const sums = await ports.records.usage.sum({ ...query, ...seen })
      const budgets = query.per === undefined ? await left.of(query.groupBy, sums) : []
      return sums.map((sum, at) => ({ ...sum, ...(budgets[at]?.length ? { budgets: budgets[at] } : {}) }))
    },
  }
}

export type BudgetsLeft = {
  /** For each sum its budgets; empty where there are none. */
  of(groupBy: UsageGroup, sums: readonly UsageSum[]): Promise<BudgetLeft[][]>
}

/** Tasks are looked up one by one: the first of the list, which have used most. */
const maxTasks = 200

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
  if (key === '') return []
  if (groupBy === 'namespace') return [{ namespace: key }]
  if (groupBy === 'agent' && namespace !== undefined) return [{ namespace, agent: key }]
  if (groupBy !== 'caller') return []
  const id = caller?.id ?? key
  return [{ caller: id }, ...(caller?.kind === 'token' ? [{ token: id }] : [])]
}

function whatIsLeft(max: number | undefined, spent: number): number | undefined {
  return max === undefined ? undefined : Math.max(0, max - spent)
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
  { ledger, taskBudgets }: { ledger: BudgetLedger; taskBudgets: TaskBudgetChecks },
): BudgetsLeft {
  async function ofTask({ namespace = '', key: name, taskUid }: UsageSum): Promise<BudgetLeft[]> {
    const task = await resources.get('Task', { namespace, name })
    // A later task of the same name has a budget of its own.
    if (task === undefined || task.metadata.uid !== taskUid) return []
    const left = await taskBudgets.left(task)
    const own = left === undefined ? [] : [describeTask(left, task.spec.budget?.currency)]
    const bounds = await ledger.taskBounds(budgetSubjectOf(task))
    const now = clock.now()
    return [
      ...own,
      ...bounds.map((bound) => ({ name: bound.name, ...describeTask(leftWithin(bound, task, now), undefined) })),
    ]
  }

  return {
    async of(groupBy, sums) {
      if (groupBy === 'task') {
        return Promise.all(sums.map((sum, at) => (at < maxTasks ? ofTask(sum) : [])))
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
