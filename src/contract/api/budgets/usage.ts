// Tokens and cost, summed.
import { z } from 'zod'
import { countedFields } from '../../kinds/providers/model-use.ts'
import { QualifiedKey, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { RecordedCaller } from '../identity/caller.ts'
import { ListMetadata, NamespaceQuery, TimeParameter } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

export const usagePeriods = ['month', 'day', 'hour'] as const
/** A time that sums are made for, in UTC. */
export type UsagePeriod = (typeof usagePeriods)[number]

export const usageGroups = [
  ...(['task', 'session', 'agent', 'caller', 'monitor', 'scan', 'label', 'namespace', 'provider', 'model'] as const),
  ...usagePeriods,
] as const
/** What sums are made by. */
export type UsageGroup = (typeof usageGroups)[number]

/** What is left of a budget; each field is present when the budget has such a limit. */
export const BudgetLeft = z
  .object({
    name: field(z.string().optional(), "Name of the budget. Absent: the task's own, `spec.budget`.", 'team-a'),
    tokens: field(z.int().min(0).optional(), 'Tokens that may still be used.', 380_000),
    cost: field(z.number().min(0).optional(), 'Money that may still be spent, in `currency`.', 3.5),
    currency: field(z.string().optional(), 'Currency of `cost` (ISO 4217).', 'USD'),
    seconds: field(z.int().min(0).optional(), 'Seconds until the time is up.', 3600),
    iterations: field(z.int().min(0).optional(), 'Iterations that may still follow the ones that are done.', 7),
    resetsAt: field(Timestamp.optional(), 'When the period ends. Absent: it never resets.'),
    usedUp: field(z.boolean(), 'Whether nothing is left of one of them.'),
  })
  .meta({ id: 'BudgetLeft' })
export type BudgetLeft = z.infer<typeof BudgetLeft>

/** Tokens and cost of one group. */
export const UsageItem = z
  .object({
    key: field(
      z.string(),
      'What the line is about: `namespace/name` of a task, session, agent, monitor, scan or provider, the name of a namespace or model, the value of a label, a month (`2026-01`), a day (`2026-01-31`) or an hour (`2026-01-31T14`) in UTC, or the id of a caller. Empty: what has none, so that every grouping sums to the same.',
      'default/nightly-report',
    ),
    at: field(z.string().optional(), 'Month, day or hour of the line, as `per` asks for it.', '2026-01-31'),
    caller: field(RecordedCaller.optional(), 'The caller, with the name used last.'),
    ...countedFields,
    cost: field(z.number().min(0).optional(), 'Cost in `currency`. Absent: none of the calls has a price.', 0.0123),
    unpricedCalls: field(
      z.int().min(0).optional(),
      'Calls among them that have no price, and so no part in `cost`. Absent: none.',
      2,
    ),
    currency: field(z.string().optional(), 'Currency of the costs (ISO 4217).', 'USD'),
    estimatedInputTokens: field(
      z.int().min(0).optional(),
      'Input tokens that the vendors did not count, estimated; limits and budgets count them too.',
      80,
    ),
    estimatedOutputTokens: field(
      z.int().min(0).optional(),
      'Output tokens that the vendors did not count, estimated; limits and budgets count them too.',
      20,
    ),
    estimatedCost: field(
      z.number().min(0).optional(),
      'Cost of the estimated tokens in `currency`; not part of `cost`.',
      0.0004,
    ),
    budgets: field(
      z.array(BudgetLeft).optional(),
      'What is left of the budgets for exactly this task, agent, namespace or caller; of tasks for the first 200. Absent: there are none.',
    ),
  })
  .meta({ id: 'UsageItem' })
export type UsageItem = z.infer<typeof UsageItem>

/** One entry per group and currency. */
export const UsageReport = z
  .object({
    items: field(z.array(UsageItem), 'The groups, in order of their keys.'),
    metadata: field(ListMetadata, 'Where the next page starts.'),
  })
  .meta({ id: 'UsageReport' })
export type UsageReport = z.infer<typeof UsageReport>

const UsageQuery = NamespaceQuery.extend({
  groupBy: field(z.enum(usageGroups).default('task'), 'What the records are summed by.'),
  label: field(
    QualifiedKey.optional(),
    'Key of the label of tasks to sum by; with `groupBy=label`, and required there.',
    'team',
  ),
  per: field(z.enum(usagePeriods).optional(), 'Sums for each of these apart, in UTC.'),
  name: field(
    limitedText(512).min(1).optional(),
    'Only the group of this name: of a task, session, agent, monitor, scan, provider, namespace or model, a label, a month, a day, an hour, or the id of a caller.',
    'nightly-report',
  ),
  since: field(TimeParameter.optional(), 'Only records from this time on (RFC 3339).'),
  until: field(TimeParameter.optional(), 'Only records before this time (RFC 3339).'),
})

const routes = routesOf({ tag: 'Usage', base: '/api/v1', kind: 'Usage' })

export const getUsage = routes.list('/usage', {
  summary: 'Tokens and cost per group',
  description:
    'Sums tokens and cost of model calls by what they were made for or by time. What has none of it is a line of its own. Tasks, agents, namespaces and callers show what is left of their budgets.',
  query: UsageQuery,
  responses: { 200: { description: 'Sums, largest first; days and hours, newest first', schema: UsageReport } },
})

export const getUsageTable = routes.list('/usage.csv', {
  summary: 'Tokens and cost per group, for spreadsheets',
  description: 'The sums as comma-separated values (RFC 4180), with a head.',
  query: UsageQuery,
  responses: { 200: { description: 'Sums, a line each', contentType: 'text/csv' } },
})
