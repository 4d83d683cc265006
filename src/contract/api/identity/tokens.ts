// Tokens of users in embedded mode. The text of a token is shown once, when it is created.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { tryParseDuration } from '../../values/duration.ts'
import { listOf } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'
import { type Role, roles } from './access.ts'

const dayMs = 86_400_000

/** Whether the calendar has it: `Date.parse` takes the 31st of February for the 3rd of March. */
function isDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

/** When a token created at `now` expires. `expires` is a time (RFC 3339), a duration, or whole days (`30d`); undefined for anything else. */
export function parseTokenExpiry(expires: string, now: Date): Date | undefined {
  if (/^\d{4}-/.test(expires)) {
    const time = Date.parse(expires)
    return Number.isNaN(time) || !isDay(expires.slice(0, 10)) ? undefined : new Date(time)
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

/** The forms of `expires` in JSON Schema. */
const expiryForms = [
  { format: 'date-time' },
  { pattern: '^0{0,4}[1-9]\\d{0,4}d$' },
  { pattern: '^\\+?((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+$' },
]

/** A token to create. */
export const TokenCreate = z
  .strictObject({
    name: field(Name, 'Name of the token.', 'ci'),
    namespace: field(
      Name.optional(),
      'The only namespace that the token is valid for. Without it: all namespaces.',
      'team-a',
    ),
    role: field(z.enum(roles).optional(), 'What the token may do. Without it: what an editor may.'),
    readOnly: field(z.boolean().optional(), 'The same as the role `viewer`.'),
    expires: field(
      limitedText(64)
        .refine(
          (text) => parseTokenExpiry(text, new Date(0)) !== undefined,
          'must be a time (2026-12-31T00:00:00Z), a duration (12h) or days (30d)',
        )
        .meta({ example: '30d', [publishedMark]: { anyOf: expiryForms } })
        .optional(),
      'When the token ends: a time (RFC 3339), a duration or days. Without it: never.',
    ),
    serverTools: field(
      z.boolean().default(true),
      "Whether the proxies offer the tools of the service to this caller's models.",
    ),
  })
  .superRefine(checkRole)
  .meta({
    id: 'TokenCreate',
    [publishedMark]: { not: { properties: { role: { const: 'owner' } }, required: ['role', 'namespace'] } },
  })
export type TokenCreate = z.infer<typeof TokenCreate>

const tokenFields = {
  id: field(z.string(), 'Id of the token.', '0192f0c1'),
  name: field(z.string(), 'Name of the token.', 'ci'),
  namespace: field(
    z.string().optional(),
    'The only namespace that the token is valid for. Absent: all namespaces.',
    'team-a',
  ),
  role: field(z.enum(roles), 'What the token may do.'),
  serverTools: field(z.boolean(), "Whether the proxies offer the tools of the service to this caller's models."),
  createdAt: field(Timestamp, 'When it was created.'),
  expiresAt: field(Timestamp.optional(), 'When it ends. Absent: never.'),
  lastUsedAt: field(Timestamp.optional(), 'When it was last used.'),
  signInOf: field(
    z
      .object({
        id: field(z.string(), 'Id of the token that the link was made with; `owner` for that of the owner.', 'owner'),
        name: field(z.string(), 'Name of that caller.', 'owner'),
      })
      .optional(),
    'The caller whose sign-in link it came from, and whom it acts as.',
  ),
}

/** A token without its text. */
export const TokenItem = z.object(tokenFields).meta({ id: 'Token' })
export type TokenItem = z.infer<typeof TokenItem>

/** A new token with its text, which is shown only this once. */
export const TokenCreated = z
  .object({ ...tokenFields, token: field(z.string(), 'The token; it is shown this once.', 'svc_0192f0c1') })
  .meta({ id: 'TokenCreated' })
export type TokenCreated = z.infer<typeof TokenCreated>

const routes = routesOf({ tag: 'Tokens', base: '/api/v1/tokens', kind: 'Token' })

export const createToken = routes.create('', {
  summary: 'Create a token; its text is in this answer only',
  description:
    'Creates a token for another caller. Its text is in this answer and can never be read again. `Idempotency-Key` has no effect.',
  ignoresIdempotencyKey: true,
  body: TokenCreate,
  responses: { ...errorResponses(501), 201: { description: 'The token', schema: TokenCreated } },
})

export const listTokens = routes.list('', {
  summary: 'List tokens, without their text',
  description: 'Lists the tokens of the service, without their text.',
  responses: { ...errorResponses(501), 200: { description: 'Tokens', schema: listOf(TokenItem, 'TokenList') } },
})

export const deleteToken = routes.delete('/:id', {
  summary: 'Revoke a token',
  description: 'Revokes the token: requests that carry it are answered with 401 from now on.',
  params: z.object({ id: field(limitedText(128).min(1), 'Id of the token.', '0192f0c1') }),
  responses: { ...errorResponses(404, 501), 204: { description: 'Revoked' } },
})
