// Budgets: whose calls one covers, since when it counts, and whether it is used up. The one rule that every door asks.
import type { BudgetPeriod, BudgetScope } from '../contract/api/budgets.ts'
import type { RecordedCaller } from '../contract/api/caller.ts'
import type { Task } from '../contract/resources/task.ts'
import { readCaller } from './caller-identity.ts'

/** Who uses a model: in the words of the usage records. */
export type Spender = {
  /** Where the caller acts, or the task is. */
  namespace: string
  agent?: string | undefined
  /** Of a task: whoever created it. */
  caller?: RecordedCaller | undefined
  task?: { uid: string; name: string } | undefined
}

/** A task counts on whoever created it. */
export function spenderOf(task: Pick<Task, 'metadata' | 'spec'>): Spender {
  const { namespace, uid, name } = task.metadata
  return { namespace, agent: task.spec.agentRef?.name, caller: readCaller(task), task: { uid, name } }
}

/** What is bounded: the scope of a budget, or one task for which an agent was given a token. */
export type LimitScope = BudgetScope & { taskUid?: string }

export type Limit = {
  /** Empty: it was brought along, by the token of a task's agent. */
  name: string
  scope: LimitScope
  period: BudgetPeriod
  maxTokens?: number | undefined
  maxCost?: number | undefined
  currency: string
}

/** `cost`: in the limit's currency. */
export type Spent = { tokens: number; cost: number }

function isCaller({ token, caller: id }: LimitScope, caller: Spender['caller']): boolean {
  if (token !== undefined && (caller?.kind !== 'token' || caller.id !== token)) return false
  return id === undefined || id === (caller?.id ?? caller?.name)
}

export function coversSpender(scope: LimitScope, { namespace, agent, caller, task }: Spender): boolean {
  if (scope.namespace !== undefined && scope.namespace !== namespace) return false
  if (scope.agent !== undefined && scope.agent !== agent) return false
  if (scope.taskUid !== undefined && scope.taskUid !== task?.uid) return false
  return isCaller(scope, caller)
}

/** The first moment of the period that `now` is in, in UTC; undefined: it has no beginning. */
export function startOfPeriod(period: BudgetPeriod, now: Date): Date | undefined {
  if (period === 'total') return undefined
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'day' ? now.getUTCDate() : 1))
}

/** When it begins anew; undefined: never. */
export function endOfPeriod(period: BudgetPeriod, now: Date): Date | undefined {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  if (period === 'total') return undefined
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1))
}

export function isUsedUp({ maxTokens, maxCost }: Limit, { tokens, cost }: Spent): boolean {
  return (maxTokens !== undefined && tokens >= maxTokens) || (maxCost !== undefined && cost >= maxCost)
}

function describeScope({ namespace, agent, token, caller, taskUid }: LimitScope): string {
  const parts = [
    taskUid !== undefined && 'this task',
    agent !== undefined && `agent "${agent}"`,
    token !== undefined && `token "${token}"`,
    caller !== undefined && `caller "${caller}"`,
    namespace !== undefined && `namespace "${namespace}"`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'the whole service' : parts.join(' in ')
}

function describeMost({ maxTokens, maxCost, currency }: Limit, spent: Spent): string {
  if (maxTokens !== undefined && spent.tokens >= maxTokens) return `${maxTokens} tokens`
  return `${maxCost} ${currency}`
}

const perPeriod = { day: ' a day', month: ' a month', total: '' } as const

/** Why calls are refused, and until when. */
export function explainUsedUp(limit: Limit, spent: Spent, now: Date): string {
  const end = endOfPeriod(limit.period, now)
  const until = end === undefined ? '' : `; it begins anew at ${end.toISOString()}`
  const most = `${describeMost(limit, spent)}${perPeriod[limit.period]}`
  const name = limit.name === '' ? '' : ` "${limit.name}"`
  return `the budget${name} of ${most} for ${describeScope(limit.scope)} is used up${until}`
}
