// What tasks ask people for, and the answers.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { RecordedCaller } from '../identity/caller.ts'
import { integerParameter, listOf, NamespaceQuery, NamespacesListQuery } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

/** How far an approval is. */
export const approvalStates = ['pending', 'approved', 'declined', 'expired'] as const
/** One of them. */
export type ApprovalState = (typeof approvalStates)[number]

/** The tool that a question about a host names. No tool of a task gets its questions under this name. */
export const networkTool = 'network'

/** How far the answer to a question about a host goes. */
export const approvalScopes = ['once', 'task', 'always'] as const
/** One of them. */
export type ApprovalScope = (typeof approvalScopes)[number]

/** What a task asks for. */
export const ApprovalItem = z
  .object({
    id: field(z.string(), 'Id of the approval.', 'appr-0192f0c1'),
    namespace: field(Name, 'Namespace of the task.', 'default'),
    taskName: field(z.string(), 'Task that asks, and waits.', 'nightly-cleanup'),
    taskUid: field(z.string(), 'Uid of the task.', '0192f0c1'),
    agentName: field(z.string().optional(), 'Agent of the task.', 'cleaner'),
    tool: field(z.string(), 'Tool that would run; `request_approval` for a question of the model.', 'delete_agent'),
    arguments: field(z.record(z.string(), z.unknown()), 'Arguments of the call, without secrets.', { name: 'helper' }),
    message: field(z.string(), 'What is asked.', 'May I remove the agent helper?'),
    status: field(z.enum(approvalStates), 'How far it is.'),
    createdAt: field(Timestamp, 'When it was asked.'),
    expiresAt: field(Timestamp, 'Until when it can be answered.'),
    answeredAt: field(Timestamp.optional(), 'When it was answered.'),
    answeredBy: field(RecordedCaller.optional(), 'Who answered.'),
    reason: field(z.string().optional(), 'Why, as the answer said.', 'it is still needed'),
    scope: field(z.enum(approvalScopes).optional(), 'Of an approved host: how far the answer goes.', 'task'),
  })
  .meta({ id: 'Approval' })
export type ApprovalItem = z.infer<typeof ApprovalItem>

/** The answer of a person. */
export const ApprovalAnswer = z
  .strictObject({ reason: field(limitedText(4096).optional(), 'Why; the model reads it.', 'it is still needed') })
  .meta({ id: 'ApprovalAnswer' })

/** The same for what is approved. */
export const ApprovalGrant = ApprovalAnswer.extend({
  scope: field(
    z.enum(approvalScopes).optional(),
    'Only for a host that the network of the task does not name (tool `network`): `once` lets the next connection pass; `task`, without it too, all of this task; `always` adds the host to `spec.network.allow` of its agent as well.',
    'once',
  ),
}).meta({ id: 'ApprovalGrant' })

const params = z.object({ id: field(limitedText(128).min(1), 'Id of the approval.', 'appr-0192f0c1') })
const found = { ...errorResponses(404), 200: { description: 'The approval', schema: ApprovalItem } }

export const listApprovals = routesOf({ tag: 'Approvals', kind: 'Task' }).list('/api/v1/approvals', {
  summary: 'List what tasks ask for',
  description: 'Lists approvals, newest first: of the namespaces whose tasks the caller may list.',
  query: z.object({
    namespace: NamespacesListQuery.shape.namespace,
    taskName: field(limitedText(253).min(1).optional(), 'Only those of this task.', 'nightly-cleanup'),
    status: field(z.enum(approvalStates).optional(), 'Only those that are so far.'),
    limit: field(integerParameter({ min: 1, max: 500 }).default(100), 'Entries at most.', 100),
  }),
  responses: { 200: { description: 'Approvals, newest first', schema: listOf(ApprovalItem, 'ApprovalList') } },
})

const one = routesOf({ tag: 'Approvals', base: '/api/v1/approvals/:id', kind: 'Task', params, query: NamespaceQuery })

export const getApproval = one.get('', {
  summary: 'Read an approval',
  description: 'Answers what is asked, by whom, and what was answered.',
  responses: found,
})

export const approve = one.post('/approve', {
  summary: 'Approve',
  description:
    'Lets the call run, or the host be reached: whoever may give the task such a network answers for a host. One answer counts: 409 when there is one, or when the time has passed.',
  body: ApprovalGrant,
  bodyOptional: true,
  responses: { ...found, ...errorResponses(404, 409) },
})

export const decline = one.post('/decline', {
  summary: 'Decline',
  description:
    'Refuses the call; the model is told the reason. One answer counts: 409 when there is one, or when the time has passed.',
  body: ApprovalAnswer,
  bodyOptional: true,
  responses: { ...found, ...errorResponses(404, 409) },
})
