// Who the caller is.
import { z } from 'zod'
import { roles as accessRoles } from '../access.ts'
import { defineRoute } from './route.ts'

const tag = 'Authentication'

export const Validation = z.object({ authenticated: z.literal(true) }).meta({ id: 'Validation' })

export const WhoamiTransaction = z
  .object({
    profile: z.string(),
    /** The `typ` of the token. */
    type: z.string(),
    id: z.string(),
    issuer: z.string(),
    subject: z.string(),
    audience: z.array(z.string()),
    scope: z.string(),
    scopes: z.array(z.string()),
    requestingWorkload: z.string(),
  })
  .meta({ id: 'WhoamiTransaction' })

export const Whoami = z
  .object({
    authenticated: z.literal(true),
    authType: z.enum(['token', 'tokenReview', 'oidc', 'contextToken']),
    username: z.string(),
    uid: z.string().optional(),
    groups: z.array(z.string()),
    /** What the issuer of an OIDC or context token says of the caller. */
    subject: z.string().optional(),
    issuer: z.string().optional(),
    email: z.string().optional(),
    roles: z.array(z.string()).optional(),
    /** Of a context token. */
    transaction: WhoamiTransaction.optional(),
    /** Where the caller acts when it names no namespace. */
    namespace: z.string().optional(),
    /** Present: the only namespace the caller may act in. */
    boundNamespace: z.string().optional(),
    /** Absent: the cluster's RBAC decides. */
    role: z.enum(accessRoles).optional(),
    serverTools: z.boolean(),
  })
  .meta({ id: 'Whoami' })
export type Whoami = z.infer<typeof Whoami>

export const validateToken = defineRoute({
  method: 'GET',
  path: '/api/v1/auth/validate',
  tag,
  summary: 'Validate the credential',
  responses: { 200: { description: 'The credential is good', schema: Validation } },
  auth: 'user',
})

export const getWhoami = defineRoute({
  method: 'GET',
  path: '/api/v1/auth/whoami',
  tag,
  summary: 'Who the credential belongs to, and what it allows',
  responses: { 200: { description: 'The caller', schema: Whoami } },
  auth: 'user',
})
