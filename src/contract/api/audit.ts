// Who did what, and who was refused what.
import { z } from 'zod'
import { Name } from '../resources/metadata.ts'
import { RecordedCaller } from './caller.ts'
import { ListQuery, listOf, TimeParameter } from './list.ts'
import { defineRoute, documentAs } from './route.ts'

export const AuditItem = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    /** Absent for a credential that was not good. */
    caller: RecordedCaller.optional(),
    /** `chat`: a model did it for the caller. */
    via: z.enum(['api', 'proxy', 'worker', 'chat']),
    verb: z.string(),
    kind: z.string().optional(),
    namespace: z.string().optional(),
    name: z.string().optional(),
    /** Pattern of the route. */
    route: z.string().optional(),
    /** Where the connection came from. */
    address: z.string().optional(),
    allowed: z.boolean(),
    /** Of the answer. */
    status: z.int().optional(),
    requestId: z.string().optional(),
    /** Of what a model did in a chat. */
    session: z.string().optional(),
    /** Of what a task did. */
    taskUid: z.string().optional(),
  })
  .meta({ id: 'AuditItem' })
export type AuditItem = z.infer<typeof AuditItem>

const word = z
  .string()
  .max(64)
  .regex(/^[A-Za-z]+$/, 'must be a word')
  .optional()

/** `true` or `false`; absent: both. */
const allowed = documentAs(
  z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => (text === undefined ? undefined : text === 'true')),
  z.boolean().optional(),
)

export const AuditListQuery = ListQuery.extend({
  namespace: Name.optional(),
  /** Its id; of records from before they had one, its name. */
  caller: z.string().min(1).max(4096).optional(),
  kind: word,
  verb: word,
  allowed,
  since: TimeParameter.optional(),
  until: TimeParameter.optional(),
})

/** Without a namespace: of all of them, and of what is in none. */
export const listAudit = defineRoute({
  method: 'GET',
  path: '/api/v1/audit',
  tag: 'Audit',
  summary: 'Who did what, newest first',
  query: AuditListQuery,
  responses: { 200: { description: 'Records', schema: listOf(AuditItem, 'AuditList') } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Audit' },
})
