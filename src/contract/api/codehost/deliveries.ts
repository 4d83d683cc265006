// The webhook of the code host, and its deliveries.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { integerParameter, ListQuery, listOf, NamespaceQuery } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

/** How far a delivery is: `refused` were requests whose signature was wrong. */
export const deliveryStates = ['pending', 'done', 'ignored', 'failed', 'refused'] as const
/** One of them. */
export type DeliveryState = (typeof deliveryStates)[number]

/** What a delivery led to. */
export const DeliveryOutcome = z
  .object({
    status: field(
      z.enum(['ok', 'accepted', 'created', 'duplicate', 'ignored', 'failed', 'refused']),
      'What became of it, in one word.',
    ),
    message: field(z.string(), 'What became of it and, if nothing did, why.', 'label bug has no prefix agent:'),
    code: field(
      z.int().optional(),
      'HTTP status that says the same; a sender that asks again is answered with it.',
      201,
    ),
    action: field(z.string().optional(), 'Action that the label or the comment asks for.', 'implement'),
    label: field(z.string().optional(), 'Label of the event.', 'agent:implement'),
    taskName: field(z.string().optional(), 'Task that was created.', 'codehost-implement-7-0a1b2c3d4e5f'),
    namespace: field(z.string().optional(), 'Namespace of that task.', 'default'),
    cancelledTasks: field(z.array(z.string()).optional(), 'Tasks that were cancelled, as namespace/name.', [
      'default/codehost-implement-7-0a1b2c3d4e5f',
    ]),
    cancelledRuns: field(z.array(z.string()).optional(), 'Runs of monitors that waited and have ended.', [
      'monrun-main-0a1b2c3d4e5f',
    ]),
    matchedMonitors: field(z.int().min(0).optional(), 'Monitors that wait for such events.', 1),
    monitorRunsQueued: field(z.int().min(0).optional(), 'Runs that were queued.', 1),
    monitorRunsCached: field(z.int().min(0).optional(), 'Runs of the same head that were queued before.', 0),
    monitorRunsSkipped: field(z.int().min(0).optional(), 'Runs that this delivery has led to before.', 0),
    runIDs: field(z.array(z.string()).optional(), 'Ids of the runs.', ['monrun-main-0a1b2c3d4e5f']),
  })
  .meta({ id: 'DeliveryOutcome' })
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>

/** One delivery as lists show it. */
export const DeliveryItem = z
  .object({
    id: field(z.string(), 'Id that the code host gave the delivery.', '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
    namespace: field(Name, 'Namespace of the tasks that labels create.', 'default'),
    receivedAt: field(Timestamp, 'When it came.'),
    event: field(z.string(), 'Name of the event.', 'issues'),
    action: field(z.string().optional(), 'What happened.', 'labeled'),
    repository: field(z.string().optional(), 'Repository, in lower case.', 'owner/repo'),
    number: field(z.int().optional(), 'Number of the issue or pull request.', 7),
    sender: field(z.string().optional(), 'Who caused the event.', 'octocat'),
    state: field(z.enum(deliveryStates), 'How far it is.'),
    attempts: field(z.int().min(0), 'How often it was taken up.', 1),
    dueAt: field(Timestamp.optional(), 'When it is taken up again.'),
    outcome: field(DeliveryOutcome, 'What it led to.'),
  })
  .meta({ id: 'Delivery' })
export type DeliveryItem = z.infer<typeof DeliveryItem>

/** The answer to the code host. */
export const WebhookAnswer = DeliveryOutcome.omit({ code: true })
  .extend({
    delivery: field(z.string(), 'Id of the delivery.', '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
    reason: field(z.string().optional(), 'Why it is ignored.', 'label bug has no prefix agent:'),
  })
  .meta({ id: 'WebhookAnswer' })
export type WebhookAnswer = z.infer<typeof WebhookAnswer>

const text = z.string().optional()
const bodyLimit = 15_728_640

export const receiveDelivery = routesOf({ tag: 'Code host', auth: 'none' }).post('/webhooks/codehost', {
  summary: 'Deliver an event of the code host',
  description:
    'Takes the deliveries of a webhook of the code host: labels on issues and pull requests, events of pull requests, and comments with commands. Signed with `X-Hub-Signature-256` over the bytes of the body; no other credential. Stored before it is answered; the same id counts once.',
  headers: z.object({
    'x-github-event': field(text, 'Name of the event; `X-Codehost-Event` is the same.', 'issues'),
    'x-codehost-event': field(text, 'Name of the event.', 'issues'),
    'x-github-delivery': field(
      text,
      'Id of the delivery; `X-Codehost-Delivery` is the same.',
      '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    ),
    'x-codehost-delivery': field(text, 'Id of the delivery.', '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
    'x-hub-signature-256': field(text, '`sha256=` and the HMAC-SHA256 of the body in hex.', 'sha256=0123'),
  }),
  rawBody: 'application/json',
  bodyLimit,
  responses: {
    ...errorResponses(401, 429),
    201: { description: 'A task was created, or a run of a monitor queued', schema: WebhookAnswer },
    202: { description: 'Stored; what it led to, or will lead to', schema: WebhookAnswer },
  },
})

const params = z.object({
  id: field(limitedText(128).min(1), 'Id of the delivery.', '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
})
const found = { ...errorResponses(404), 200: { description: 'The delivery', schema: DeliveryItem } }

const all = routesOf({ tag: 'Code host', base: '/api/v1/webhook/deliveries', kind: 'RepositoryMonitor' })

export const listDeliveries = all.list('', {
  summary: 'List deliveries of the webhook',
  description: 'Lists deliveries, newest first, each with what it led to or why nothing happened.',
  query: ListQuery.extend({
    repository: field(limitedText(256).min(1).optional(), 'Only of this repository.', 'owner/repo'),
    number: field(
      integerParameter({ min: 1, max: 2_147_483_647 }).optional(),
      'Only of this issue or pull request.',
      7,
    ),
    event: field(limitedText(64).min(1).optional(), 'Only of this event.', 'issues'),
    state: field(z.enum(deliveryStates).optional(), 'Only those that are so far.'),
  }),
  responses: { 200: { description: 'Deliveries, newest first', schema: listOf(DeliveryItem, 'DeliveryList') } },
})

const one = routesOf({
  tag: 'Code host',
  base: '/api/v1/webhook/deliveries/:id',
  kind: 'RepositoryMonitor',
  params,
  query: NamespaceQuery,
})

export const getDelivery = one.get('', {
  summary: 'Read a delivery of the webhook',
  description: 'Answers what came, and what it led to.',
  responses: found,
})

export const redeliver = one.post('/redeliver', {
  summary: 'Work off a delivery again',
  description:
    'Takes up a delivery that has ended once more, for example after a missing agent was created. What it has led to already is not made twice.',
  responses: { ...found, ...errorResponses(404, 409) },
  verb: 'operate',
})
