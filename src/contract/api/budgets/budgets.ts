// Budgets: the tokens or the money that may be used in a day, in a month or in total.
import { z } from 'zod'
import { CurrencyCode } from '../../kinds/providers/model-use.ts'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field, notBoth, oneHolds, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { ListMetadata } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

export const budgetPeriods = ['day', 'month', 'total'] as const
/** When the budget resets, in UTC. `total`: never; all stored usage counts (`--usage-retention`). */
export type BudgetPeriod = (typeof budgetPeriods)[number]

const id = limitedText(4096).min(1, 'must not be empty')

/** Whose calls count: those that match every field given; without any field, all calls of the service. */
export const BudgetScope = z
  .strictObject({
    namespace: field(Name.optional(), 'Only what is used in this namespace counts.', 'team-a'),
    agent: field(
      Name.optional(),
      'Only tasks and chats of this agent count; `namespace` is required beside it.',
      'coder',
    ),
    token: field(id.optional(), 'Only what this token and its tasks use counts: its id, not its text.', '0192f0c1'),
    caller: field(id.optional(), 'Only what this caller and its tasks use counts: its id, as usage shows it.', 'owner'),
  })
  .refine(({ agent, namespace }) => agent === undefined || namespace !== undefined, {
    path: ['namespace'],
    message: 'is required beside agent, whose name is its namespace’s own',
  })
  .refine(({ token, caller }) => token === undefined || caller === undefined, {
    path: ['caller'],
    message: 'must be absent beside token, which is a caller, too',
  })
  .meta({
    id: 'BudgetScope',
    [publishedMark]: { dependentRequired: { agent: ['namespace'] }, ...notBoth('token', 'caller') },
  })
export type BudgetScope = z.infer<typeof BudgetScope>

const limitNames = ['maxTokens', 'maxCost', 'maxTaskDuration', 'maxTaskIterations'] as const

/** What is limited, for whom and in which period. */
export const BudgetSpec = z
  .strictObject({
    scope: field(BudgetScope.default({}), 'Whose calls count: those that fit every field. Empty: all of the service.'),
    period: field(
      z.enum(budgetPeriods).default('month'),
      'When it resets, in UTC. `total`: never; all stored usage counts (`--usage-retention`).',
    ),
    maxTokens: field(
      z.int().min(0).max(1_000_000_000_000).optional(),
      'Most tokens in and out, counted and estimated. One of the four limits is required.',
      5_000_000,
    ),
    maxCost: field(
      z.number().min(0).max(1_000_000_000).optional(),
      'Most money in `currency`, by the prices of the providers. Calls without a price in it do not count.',
      20,
    ),
    currency: field(CurrencyCode, 'Currency of `maxCost` (ISO 4217).', 'EUR'),
    maxTaskDuration: field(
      PositiveDuration.optional(),
      'Longest time of each task from the start of its first attempt, as a duration. The period means nothing to it.',
      '24h',
    ),
    maxTaskIterations: field(
      z.int().min(1).optional(),
      'Most iterations of each task of an autonomous agent. The period means nothing to it.',
      50,
    ),
  })
  .refine((spec) => limitNames.some((name) => spec[name] !== undefined), {
    path: ['maxTokens'],
    message: 'or maxCost, maxTaskDuration or maxTaskIterations is required',
  })
  .meta({
    id: 'BudgetSpec',
    [publishedMark]: oneHolds(...limitNames.map((name) => ({ required: [name] }))),
  })
export type BudgetSpec = z.infer<typeof BudgetSpec>

const BudgetSpent = z
  .object({
    tokens: field(z.int().min(0), 'Tokens in and out, counted and estimated.', 120_000),
    cost: field(z.number().min(0), "Money in the budget's currency.", 1.5),
    unpricedCalls: field(z.int().min(0), 'Calls without a price, which `maxCost` does not see.', 0),
    since: field(Timestamp.optional(), 'When the period began. Absent: it has no beginning.'),
  })
  .meta({ id: 'BudgetSpent' })

/** A budget and how much of it is used. */
export const BudgetItem = z
  .object({
    name: field(Name, 'Name of the budget.', 'team-a'),
    spec: field(BudgetSpec, 'What is bounded.'),
    spent: field(BudgetSpent, 'What is spent in the present period.'),
    usedUp: field(z.boolean(), 'Whether calls are refused.'),
  })
  .meta({ id: 'Budget' })
export type BudgetItem = z.infer<typeof BudgetItem>

/** All budgets, by name. */
export const BudgetList = z
  .object({
    items: field(z.array(BudgetItem), 'Budgets, by name.'),
    metadata: field(ListMetadata, 'Where the next page starts.'),
  })
  .meta({ id: 'BudgetList' })

const params = z.object({ name: field(Name, 'Name of the budget.', 'team-a') })

export const listBudgets = routesOf({ tag: 'Budgets', kind: 'Budget' }).list('/api/v1/budgets', {
  summary: 'List budgets and what of them is spent',
  description: 'Lists all budgets with what of them is spent. For owners.',
  responses: { 200: { description: 'Budgets, by name', schema: BudgetList } },
})

const one = routesOf({ tag: 'Budgets', base: '/api/v1/budgets/:name', kind: 'Budget', params })

export const getBudget = one.get('', {
  summary: 'Read a budget and what of it is spent',
  description: 'Reads one budget with what of it is spent. For owners.',
  responses: { 200: { description: 'The budget', schema: BudgetItem }, ...errorResponses(404) },
})

export const putBudget = one.put('', {
  summary: 'Make or replace a budget',
  description:
    'Bounds what a token, a caller, an agent, a namespace or the whole service may use. Who has used it up is refused with `BudgetExceeded`.',
  body: BudgetSpec,
  responses: { 200: { description: 'The budget', schema: BudgetItem } },
})

export const deleteBudget = one.delete('', {
  summary: 'Remove a budget',
  description: 'Removes a budget; what was used stays in the usage.',
  responses: { 204: { description: 'Removed' }, ...errorResponses(404) },
})
