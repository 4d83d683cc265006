// Budgets: whose calls each one covers, when its period starts, and whether it is used up. Every edge asks this rule.
import type { BudgetPeriod, BudgetScope } from '../../contract/api/budgets/budgets.ts'
import type { RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { ModelPrice, Price, ProviderSpec } from '../../contract/kinds/providers/provider.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { readCaller } from '../identity/caller-identity.ts'
import { compileWildcards } from '../resources/selectors.ts'

function countLetters({ model }: ModelPrice): number {
  return model.replace(/[*?]/g, '').length
}

/** The narrowest of those that fit the model, else the one for all models. */
export function findPrice(spec: Pick<ProviderSpec, 'price' | 'prices'>, model: string): Price | undefined {
  const fitting = (spec.prices ?? []).filter((price) => compileWildcards(price.model)(model))
  const [first] = fitting.toSorted((a, b) => countLetters(b) - countLetters(a))
  if (first === undefined) return spec.price
  const { model: _model, ...price } = first
  return price
}

/** Who uses a model, in the words of the usage records. */
export type BudgetSubject = {
  /** The namespace the caller acts in, or the task's. */
  namespace: string
  agent?: string | undefined
  /** For a task: its creator. */
  caller?: RecordedCaller | undefined
  task?: { uid: string; name: string } | undefined
}

/** A task counts towards its creator's budgets. */
export function budgetSubjectOf(task: Pick<Task, 'metadata' | 'spec'>): BudgetSubject {
  const { namespace, uid, name } = task.metadata
  return { namespace, agent: task.spec.agentRef?.name, caller: readCaller(task), task: { uid, name } }
}

/** What a budget limits: its scope, or one task whose agent was given a token. */
export type LimitScope = BudgetScope & { taskUid?: string }

export type Limit = {
  /** Empty when the limit came with the token of a task's agent. */
  name: string
  scope: LimitScope
  period: BudgetPeriod
  maxTokens?: number | undefined
  maxCost?: number | undefined
  currency: string
  /** Of each task in the scope, as a duration. */
  maxTaskDuration?: string | undefined
  maxTaskIterations?: number | undefined
}

/** `cost`: in the limit's currency. */
export type Spent = { tokens: number; cost: number }

function isCaller({ token, caller: id }: LimitScope, caller: BudgetSubject['caller']): boolean {
  if (token !== undefined && (caller?.kind !== 'token' || caller.id !== token)) return false
  return id === undefined || id === (caller?.id ?? caller?.name)
}

export function coversSubject(scope: LimitScope, { namespace, agent, caller, task }: BudgetSubject): boolean {
  if (scope.namespace !== undefined && scope.namespace !== namespace) return false
  if (scope.agent !== undefined && scope.agent !== agent) return false
  if (scope.taskUid !== undefined && scope.taskUid !== task?.uid) return false
  return isCaller(scope, caller)
}

/** The first moment of the period that contains `now`, in UTC; undefined when the period never began. */
export function startOfPeriod(period: BudgetPeriod, now: Date): Date | undefined {
  if (period === 'total') return undefined
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'day' ? now.getUTCDate() : 1))
}

/** When the period starts again; undefined: never. */
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

function describeLimit({ maxTokens, maxCost, currency }: Limit, spent: Spent): string {
  if (maxTokens !== undefined && spent.tokens >= maxTokens) return `${maxTokens} tokens`
  return `${maxCost} ${currency}`
}

const perPeriod = { day: ' a day', month: ' a month', total: '' } as const

/** Why calls are refused, and until when. */
export function explainUsedUp(limit: Limit, spent: Spent, now: Date): string {
  const end = endOfPeriod(limit.period, now)
  const until = end === undefined ? '' : `; it resets at ${end.toISOString()}`
  const allowance = `${describeLimit(limit, spent)}${perPeriod[limit.period]}`
  const name = limit.name === '' ? '' : ` "${limit.name}"`
  return `the budget${name} of ${allowance} for ${describeScope(limit.scope)} is used up${until}`
}
