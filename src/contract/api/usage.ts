// Tokens and cost, summed.
import { z } from 'zod'
import { RecordedCaller } from './caller.ts'
import { ListMetadata, NamespaceQuery, TimeParameter } from './list.ts'
import { defineRoute } from './route.ts'

export const usageGroups = ['task', 'session', 'agent', 'caller', 'namespace', 'provider'] as const

export const UsageItem = z
  .object({
    /**
     * Of the group: `namespace/name` for task, session, agent and provider, the name of a namespace, the id of a caller (its
     * name, where no id was recorded).
     */
    key: z.string(),
    /** Of callers, with the name they went by last. */
    caller: RecordedCaller.optional(),
    inputTokens: z.int().min(0),
    outputTokens: z.int().min(0),
    cachedTokens: z.int().min(0),
    llmCalls: z.int().min(0),
    /** In `currency`; 0 when no price was set. */
    cost: z.number().min(0),
    currency: z.string().optional(),
    /** What vendors did not count: of calls that broke off, or that were answered without counts. Limits and budgets count it too. */
    estimatedInputTokens: z.int().min(0).optional(),
    estimatedOutputTokens: z.int().min(0).optional(),
    /** In `currency`, beside `cost`. */
    estimatedCost: z.number().min(0).optional(),
  })
  .meta({ id: 'UsageItem' })
export type UsageItem = z.infer<typeof UsageItem>

/** One entry per group and currency. */
export const UsageReport = z.object({ items: z.array(UsageItem), metadata: ListMetadata }).meta({ id: 'UsageReport' })
export type UsageReport = z.infer<typeof UsageReport>

export const getUsage = defineRoute({
  method: 'GET',
  path: '/api/v1/usage',
  tag: 'Usage',
  summary: 'Tokens and cost per group',
  query: NamespaceQuery.extend({
    groupBy: z.enum(usageGroups).default('task'),
    since: TimeParameter.optional(),
    until: TimeParameter.optional(),
  }),
  responses: { 200: { description: 'Sums, largest first', schema: UsageReport } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Usage' },
})
