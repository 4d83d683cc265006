// The words in which edges, rules and authorizers describe what a caller wants to do.

import { z } from 'zod'
import type { Kind } from '../../kinds/index.ts'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { field, publishedMark } from '../../schema/field.ts'
import { tryParseDuration } from '../../values/duration.ts'
import { listOf } from '../resources/list.ts'
import { defineRoute, errorResponses } from '../resources/route.ts'

/** `use`: call a tool or a provider, or have a secret's credential sent; `operate`: start a run of a monitor. */
export type AccessVerb = 'get' | 'list' | 'create' | 'update' | 'delete' | 'use' | 'operate'

/** Kinds of resources and of everything else that is protected. */
export type AccessKind =
  | Kind
  | 'Secret'
  | 'ConfigMap'
  | 'Session'
  | 'Memory'
  | 'Usage'
  | 'Budget'
  | 'Setting'
  | 'Token'
  | 'Audit'
  | 'Metrics'

/** Namespaces of the cluster itself, in which no one may write through the service. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']

/** What a task would do, for the constraints of a context token. */
export type TaskFacts = {
  type: string
  /** Absent: the task has no agent. */
  agent?: { namespace: string; name: string }
  /** Every repository that is cloned, with the branch or commit to check out. */
  workspaces: { repo?: string; branch?: string; ref?: string }[]
  /** The model to be used, then its fallbacks. A provider or model that is not known yet is absent. */
  models: { namespace?: string; provider?: string; model?: string }[]
  /** The tools of the task; `any`: its runtime decides. */
  tools: { namespace: string; name: string }[] | 'any'
}

/** In ascending order: each role may do all that the ones before it may. */
export const roles = ['viewer', 'runner', 'editor', 'owner'] as const
/** What a caller may do, from reading to owning the service. */
export type Role = (typeof roles)[number]

/** A question to the authorizer: may the caller do this to that kind? */
export type Access = {
  verb: AccessVerb
  kind: AccessKind
  /** Absent: in the whole service. */
  namespace?: string
  name?: string
  /** The model that is requested, when the call is for a provider. */
  model?: string
  /** True when the object names a Secret, before or after the change. */
  namesSecret?: boolean
  /** Facts about the task, when one is created. */
  task?: TaskFacts
  /**
   * Set for a tool of the service itself, which is not an object, so no role mentions it. `coordination`: each action of the
   * tool is checked when it happens.
   */
  serviceTool?: 'builtIn' | 'coordination'
  /** True when a list is filtered for the caller: without the right, the object is left out and nothing counts as refused. */
  entry?: true
}

/** The answer; `reason` is written for the caller. */
export type Decision = { allowed: true } | { allowed: false; reason: string }

type Deed = 'read' | 'write' | 'act'

const deeds: Record<AccessVerb, Deed> = {
  get: 'read',
  list: 'read',
  create: 'write',
  update: 'write',
  delete: 'write',
  use: 'act',
  operate: 'act',
}

/**
 * The least role that may read objects of a kind, change them, and run them. Covers every kind, so none can be
 * forgotten.
 */
const leastRoles: Record<AccessKind, Record<Deed, Role>> = {
  Task: { read: 'viewer', write: 'runner', act: 'runner' },
  Agent: { read: 'viewer', write: 'runner', act: 'runner' },
  Skill: { read: 'viewer', write: 'runner', act: 'runner' },
  Session: { read: 'viewer', write: 'runner', act: 'runner' },
  Memory: { read: 'viewer', write: 'runner', act: 'runner' },
  Provider: { read: 'viewer', write: 'editor', act: 'runner' },
  Tool: { read: 'viewer', write: 'editor', act: 'runner' },
  RepositoryScan: { read: 'viewer', write: 'editor', act: 'runner' },
  RepositoryMonitor: { read: 'viewer', write: 'editor', act: 'runner' },
  ConfigMap: { read: 'viewer', write: 'editor', act: 'runner' },
  Secret: { read: 'editor', write: 'editor', act: 'editor' },
  Usage: { read: 'viewer', write: 'owner', act: 'owner' },
  Budget: { read: 'owner', write: 'owner', act: 'owner' },
  Setting: { read: 'owner', write: 'owner', act: 'owner' },
  Metrics: { read: 'viewer', write: 'owner', act: 'owner' },
  Token: { read: 'owner', write: 'owner', act: 'owner' },
  Audit: { read: 'owner', write: 'owner', act: 'owner' },
}

type Asked = Pick<Access, 'verb' | 'kind'>

/** Whether it changes objects of the kind. */
export function isWriting({ verb }: Pick<Access, 'verb'>): boolean {
  return deeds[verb] === 'write'
}

/** The least role that may do it. What an object names may ask for a higher one. */
export function leastRoleOf({ verb, kind }: Asked): Role {
  return leastRoles[kind][deeds[verb]]
}

/** Whether the role may do what the least one may. */
export function reachesRole(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

const tag = 'Tokens'
const dayMs = 86_400_000

/** When a token created at `now` expires. `expires` is a time (RFC 3339), a duration, or whole days (`30d`); undefined for anything else. */
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
      z
        .string()
        .max(64)
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

export const createToken = defineRoute({
  method: 'POST',
  path: '/api/v1/tokens',
  tag,
  summary: 'Create a token; its text is in this answer only',
  description: 'Creates a token for another caller. Its text is in this answer and can never be read again.',
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
  description: 'Lists the tokens of the service, without their text.',
  responses: { ...errorResponses(501), 200: { description: 'Tokens', schema: listOf(TokenItem, 'TokenList') } },
  auth: 'user',
  verb: { verb: 'list', kind: 'Token' },
})

export const deleteToken = defineRoute({
  method: 'DELETE',
  path: '/api/v1/tokens/:id',
  tag,
  summary: 'Revoke a token',
  description: 'Revokes the token: requests that carry it are answered with 401 from now on.',
  params: z.object({ id: field(z.string().min(1).max(128), 'Id of the token.', '0192f0c1') }),
  responses: { ...errorResponses(404, 501), 204: { description: 'Revoked' } },
  auth: 'user',
  verb: { verb: 'delete', kind: 'Token' },
})
