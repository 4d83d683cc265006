// The audit log: who did what, and what was refused.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { ListQuery, listOf, TimeParameter } from '../resources/list.ts'
import { documentAs, routesOf } from '../resources/route.ts'
import { RecordedCaller } from './caller.ts'

/** One record of the audit log. */
export const AuditItem = z
  .object({
    id: field(z.string(), 'Id of the record.', '42'),
    createdAt: field(z.string(), 'When the request was made.', '2030-01-01T00:00:00.000Z'),
    caller: field(RecordedCaller.optional(), 'Who made the request. Absent when the credential was not valid.'),
    via: field(
      z.enum(['api', 'proxy', 'worker', 'chat']),
      'How the request came; `chat` means that a model acted for the caller.',
    ),
    verb: field(z.string(), 'What was to be done.', 'create'),
    kind: field(z.string().optional(), 'Kind of the object.', 'Task'),
    namespace: field(z.string().optional(), 'Namespace of the object.', 'default'),
    name: field(z.string().optional(), 'Name of the object.', 'nightly-report'),
    route: field(z.string().optional(), 'Pattern of the route.', '/api/v1/tasks'),
    address: field(z.string().optional(), 'Address that the connection came from.', '192.0.2.7'),
    allowed: field(z.boolean(), 'Whether the caller was let in and might do it; the status tells what became of it.'),
    status: field(z.int().optional(), 'HTTP status of the answer.', 201),
    requestId: field(
      z.string().optional(),
      'Id of the request, as in the answer.',
      '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
    ),
    session: field(z.string().optional(), 'Chat session in which a model acted.', 'support-42'),
    taskUid: field(z.string().optional(), 'Uid of the task that acted.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c11'),
  })
  .meta({ id: 'AuditItem' })
export type AuditItem = z.infer<typeof AuditItem>

const word = limitedText(64)
  .regex(/^[A-Za-z]+$/, 'must be a word')
  .optional()

/** `true`: allowed requests only; `false`: refused ones only; absent: both. */
const allowed = documentAs(
  z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => (text === undefined ? undefined : text === 'true')),
  z.boolean().optional(),
)

/** Filters of the audit log; a record must match all of them. */
export const AuditListQuery = ListQuery.extend({
  namespace: field(Name.optional(), 'Only records of this namespace.', 'default'),
  caller: field(
    limitedText(4096).min(1).optional(),
    'Only records of the caller with this id; for records without an id, the name.',
    'token:0192f0c1',
  ),
  kind: field(word, 'Only records of this kind.', 'Task'),
  verb: field(word, 'Only records of this verb.', 'create'),
  allowed: field(allowed, 'Only requests that were allowed (`true`) or refused (`false`).', false),
  since: field(TimeParameter.optional(), 'Only records from this time on (RFC 3339).'),
  until: field(TimeParameter.optional(), 'Only records before this time (RFC 3339).'),
})

/** Without a namespace: records of all namespaces, and those that belong to none. */
export const listAudit = routesOf({ tag: 'Audit', kind: 'Audit' }).list('/api/v1/audit', {
  summary: 'Who did what, newest first',
  description:
    'Lists records of the audit log, newest first, one page at a time. Without a namespace: those of all namespaces and of what has no namespace.',
  query: AuditListQuery,
  responses: { 200: { description: 'Records', schema: listOf(AuditItem, 'AuditList') } },
})
