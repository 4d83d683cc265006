// Budgets: whose calls each one covers, when its period starts, and whether it is used up. Every edge asks this rule.
import type { BudgetPeriod, BudgetScope } from '../../contract/api/budgets/budgets.ts'
import type { ModelPrice, Price, ProviderSpec } from '../../contract/kinds/providers/provider.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { compileWildcards } from '../resources/selectors.ts'
import { type Attribution, attributionOf } from './attribution.ts'
import { findListedPrice, type ListedPrice } from './price-catalogue.ts'

function countLetters({ model }: ModelPrice): number {
  return model.replace(/[*?]/g, '').length
}

type ProviderPrices = Pick<ProviderSpec, 'price' | 'prices'>

/** What the provider's owner has set: the narrowest pattern that fits the model, else the one for all models. */
function findOwnPrice({ price, prices = [] }: ProviderPrices, model: string): ModelPrice | undefined {
  const fitting = prices.filter((one) => compileWildcards(one.model)(model))
  const [first] = fitting.toSorted((a, b) => countLetters(b) - countLetters(a))
  return first ?? (price && { model: '*', ...price })
}

/** A currency alone is no price. */
function hasAmount({ currency: _currency, ...amounts }: Price): boolean {
  return Object.values(amounts).some((amount) => amount !== undefined)
}

/** The price that applies, and whose it is: absent `listed`, the provider's owner has set it. */
export type ChosenPrice = { model: string; price: Price; listed?: ListedPrice }

/** The owner's price wins, a price of 0 as well; else what the vendor of the model has published. */
export function choosePrice(spec: ProviderPrices, model: string): ChosenPrice | undefined {
  const own = findOwnPrice(spec, model)
  if (own !== undefined) {
    const { model: pattern, ...price } = own
    if (hasAmount(price)) return { model: pattern, price }
  }
  const listed = findListedPrice(model)
  return listed && { model: listed.model, price: listed.price, listed }
}

/** What a call of the model costs. */
export function findPrice(spec: ProviderPrices, model: string): Price | undefined {
  return choosePrice(spec, model)?.price
}

/** Who uses a model, in the words of the usage records. */
export type BudgetSubject = Partial<Attribution> & {
  /** The namespace the caller acts in, or the task's. */
  namespace: string
  task?: { uid: string; name: string } | undefined
}

/** A task counts towards the budgets of whoever stands at its root. */
export function budgetSubjectOf(task: Pick<Task, 'metadata' | 'spec'>): BudgetSubject {
  const { namespace, uid, name } = task.metadata
  return { ...attributionOf(task), namespace, task: { uid, name } }
}

/** The same in the fields of a usage record. */
export function recordSubject({ task, ...subject }: BudgetSubject) {
  return { ...subject, ...(task && { taskUid: task.uid, taskName: task.name }) }
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
