// Alerts: a budget that is nearly or wholly used up, and an approval that waits for a person. Each is raised once.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { ListMetadata, TimeParameter } from '../resources/list.ts'
import { routesOf } from '../resources/route.ts'

const alertKinds = ['budget', 'approval'] as const
const deliveryStates = ['pending', 'delivered', 'failed', 'none'] as const
/** `none`: no webhook is set. */
export type AlertDelivery = (typeof deliveryStates)[number]

/** What is sent to the webhook, too. */
export const AlertFacts = z.object({
  id: field(z.string(), 'Id of the alert, the same for the same cause.', 'budget/team/2026-01-01/80'),
  kind: field(z.enum(alertKinds), 'What it is about.'),
  name: field(z.string(), 'Name of the budget, or id of the approval.', 'team'),
  namespace: field(z.string().optional(), 'Namespace of the task whose approval waits.', 'default'),
  task: field(z.string().optional(), 'Name of that task.', 'nightly-report'),
  threshold: field(z.int().optional(), 'Percent of the budget that were reached.', 80),
  message: field(z.string(), 'What has happened, in one sentence.', 'the budget "team" is used up to 80 %'),
  createdAt: field(Timestamp, 'When it was raised.'),
})
export type AlertFacts = z.infer<typeof AlertFacts>

/** An alert, and whether the webhook has it. */
export const Alert = AlertFacts.extend({
  delivery: field(z.enum(deliveryStates), 'Whether the webhook has it. `none`: none was set.'),
  attempts: field(z.int().min(0), 'How often it was sent.', 1),
  lastError: field(z.string().optional(), 'Why it could not be sent the last time.'),
}).meta({ id: 'Alert' })
export type Alert = z.infer<typeof Alert>

/** Alerts, newest first. */
export const AlertList = z
  .object({
    items: field(z.array(Alert), 'Alerts, newest first, at most 100.'),
    metadata: field(ListMetadata, 'Where the next page starts.'),
  })
  .meta({ id: 'AlertList' })

export const listAlerts = routesOf({ tag: 'Budgets', kind: 'Budget' }).list('/api/v1/alerts', {
  summary: 'List alerts',
  description:
    'Lists the newest alerts: budgets that reached 50, 80 or 100 percent, once in each period, and approvals that wait. For owners.',
  query: z.object({ since: field(TimeParameter.optional(), 'Only those from this time on (RFC 3339).') }),
  responses: { 200: { description: 'Alerts, newest first', schema: AlertList } },
})
