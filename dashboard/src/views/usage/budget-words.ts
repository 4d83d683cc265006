// Budgets in words, and the spec that the form makes.
import type { BudgetItem, BudgetSpec } from '../../../../src/contract/api/budgets/budgets.ts'

export function describeScope({ scope }: BudgetItem['spec']): string {
  const parts = Object.entries(scope).map(([name, value]) => `${name} ${value}`)
  return parts.length === 0 ? 'the whole service' : parts.join(', ')
}

export function toneOf(share: number): 'good' | 'warn' | 'bad' {
  if (share >= 1) return 'bad'
  return share >= 0.8 ? 'warn' : 'good'
}

export const budgetFields = ['namespace', 'agent', 'token', 'caller', 'maxTokens', 'maxCost', 'currency'] as const
/** What the form holds, as it is written. */
export type BudgetForm = Record<
  (typeof budgetFields)[number] | 'name' | 'period' | 'maxTaskDuration' | 'maxTaskIterations',
  string
>

const empty: BudgetForm = {
  name: '',
  namespace: '',
  agent: '',
  token: '',
  caller: '',
  period: 'month',
  maxTokens: '',
  maxCost: '',
  currency: 'USD',
  maxTaskDuration: '',
  maxTaskIterations: '',
}

export function formOf(budget: BudgetItem | undefined): BudgetForm {
  if (budget === undefined) return empty
  const { scope, ...spec } = budget.spec
  const texts = Object.entries({ ...scope, ...spec }).map(([name, value]) => [name, String(value ?? '')])
  return { ...empty, ...Object.fromEntries(texts), name: budget.name }
}

/** A number that is none stays a text, for which the service has the right words. */
const asNumber = (text: string) => (text === '' || Number.isNaN(Number(text)) ? text || undefined : Number(text))
const asText = (text: string) => text || undefined

export function specOf(form: BudgetForm): BudgetSpec {
  const { namespace, agent, token, caller, period, currency } = form
  const scope = { namespace: asText(namespace), agent: asText(agent), token: asText(token), caller: asText(caller) }
  const maxTaskDuration = asText(form.maxTaskDuration)
  const limits = { maxTokens: asNumber(form.maxTokens), maxCost: asNumber(form.maxCost), currency: asText(currency) }
  const perTask = { maxTaskDuration, maxTaskIterations: asNumber(form.maxTaskIterations) }
  return { scope, period, ...limits, ...perTask } as BudgetSpec
}
