// Tokens of users in embedded mode. The text of a token is answered once and never again.
import { z } from 'zod'
import { type Role, roles } from '../access.ts'
import { tryParseDuration } from '../duration.ts'
import { Name, Timestamp } from '../resources/metadata.ts'
import { listOf } from './list.ts'
import { defineRoute, errorResponses } from './route.ts'

const tag = 'Tokens'
const dayMs = 86_400_000

/** When a token made at `now` ends: `expires` is a time (RFC 3339), a duration, or whole days (`30d`). Undefined: unreadable. */
export function parseTokenExpiry(expires: string, now: Date): Date | undefined {
  if (/^\d{4}-/.test(expires)) {
    const time = Date.parse(expires)
    return Number.isNaN(time) ? undefined : new Date(time)
  }
  const days = /^(\d{1,5})d$/.exec(expires)
  const span = days === null ? tryParseDuration(expires) : Number(days[1]) * dayMs
  return span === undefined || span <= 0 ? undefined : new Date(now.getTime() + span)
}

type TokenRights = { role?: Role | undefined; readOnly?: boolean | undefined; namespace?: string | undefined }

function checkRole({ role, readOnly, namespace }: TokenRights, context: z.RefinementCtx): void {
  const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (readOnly === true && role !== undefined && role !== 'viewer')
    add('readOnly', `must not stand beside role ${role}`)
  if (role === 'owner' && namespace !== undefined) add('namespace', 'must be absent: an owner acts in all namespaces')
}

export const TokenCreate = z
  .strictObject({
    name: Name,
    /** The token is good for this namespace only. Absent: for all. */
    namespace: Name.optional(),
    /** What the token may do. Absent: what an editor may. */
    role: z.enum(roles).optional(),
    /** The same as the role viewer. */
    readOnly: z.boolean().optional(),
    /** A time (RFC 3339), a duration (`12h`) or days (`30d`). Absent: it does not end. */
    expires: z
      .string()
      .max(64)
      .refine(
        (text) => parseTokenExpiry(text, new Date(0)) !== undefined,
        'must be a time (2026-12-31T00:00:00Z), a duration (12h) or days (30d)',
      )
      .meta({ example: '30d' })
      .optional(),
    /** Whether the proxies run the tool loop for this caller. */
    serverTools: z.boolean().default(true),
  })
  .superRefine(checkRole)
  .meta({ id: 'TokenCreate' })
export type TokenCreate = z.infer<typeof TokenCreate>

const tokenFields = {
  id: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  role: z.enum(roles),
  serverTools: z.boolean(),
  createdAt: Timestamp,
  expiresAt: Timestamp.optional(),
  lastUsedAt: Timestamp.optional(),
}

export const TokenItem = z.object(tokenFields).meta({ id: 'Token' })
export type TokenItem = z.infer<typeof TokenItem>

export const TokenCreated = z.object({ ...tokenFields, token: z.string() }).meta({ id: 'TokenCreated' })
export type TokenCreated = z.infer<typeof TokenCreated>

export const createToken = defineRoute({
  method: 'POST',
  path: '/api/v1/tokens',
  tag,
  summary: 'Create a token; its text is in this answer only',
  body: TokenCreate,
  responses: { ...errorResponses(501), 201: { description: 'The token', schema: TokenCreated } },
  auth: 'user',
  verb: { verb: 'create', kind: 'Token' },
})

export const listTokens = defineRoute({
  method: 'GET',
  path: '/api/v1/tokens',
  tag,
  summary: 'List tokens, without their text',
  responses: { ...errorResponses(501), 200: { description: 'Tokens', schema: listOf(TokenItem, 'TokenList') } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Token' },
})

export const deleteToken = defineRoute({
  method: 'DELETE',
  path: '/api/v1/tokens/:id',
  tag,
  summary: 'Revoke a token',
  params: z.object({ id: z.string().min(1).max(128) }),
  responses: { ...errorResponses(404, 501), 204: { description: 'Revoked' } },
  auth: 'user',
  verb: { verb: 'delete', kind: 'Token' },
})
