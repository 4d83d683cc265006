// Who the caller is.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, routesOf } from '../resources/route.ts'
import { roles as accessRoles } from './access.ts'
import { TokenCreated } from './tokens.ts'

/** Answer to a valid credential. */
export const Validation = z
  .object({ authenticated: field(z.literal(true), 'Always true: a bad token is answered with 401.') })
  .meta({ id: 'Validation' })

/** The transaction of a context token. */
export const WhoamiTransaction = z
  .object({
    profile: field(z.string(), 'Profile of the context token.', 'kontxt'),
    type: field(z.string(), 'The `typ` of the token.', 'txntoken+jwt'),
    id: field(z.string(), 'Id of the transaction.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    issuer: field(z.string(), 'Issuer of the token.', 'https://tokens.example.com'),
    subject: field(z.string(), 'Whom the transaction acts for.', 'user-4711'),
    audience: field(z.array(z.string()), 'Services that the token is meant for.', ['svc']),
    scope: field(z.string(), 'Scopes, with blanks between them.', 'svc:tasks:create'),
    scopes: field(z.array(z.string()), 'The same scopes as a list.', ['svc:tasks:create']),
    requestingWorkload: field(z.string(), 'Workload that asked for the token.', 'spiffe://example.com/ns/web/sa/front'),
  })
  .meta({ id: 'WhoamiTransaction' })

/** Who the caller is and what they may do. */
export const Whoami = z
  .object({
    authenticated: field(z.literal(true), 'Always true: a bad token is answered with 401.'),
    authType: field(z.enum(['token', 'tokenReview', 'oidc', 'contextToken']), 'Sort of credential that was presented.'),
    username: field(z.string(), 'Name that the caller is known by.', 'ada'),
    uid: field(z.string().optional(), 'Id of the caller.', 'token:0192f0c1'),
    groups: field(z.array(z.string()), 'Groups that the caller belongs to.', ['developers']),
    subject: field(z.string().optional(), 'Subject of an OIDC or context token.', 'user-4711'),
    issuer: field(z.string().optional(), 'Issuer of an OIDC or context token.', 'https://issuer.example.com'),
    email: field(z.string().optional(), 'Email address, if the token has one.', 'ada@example.com'),
    roles: field(z.array(z.string()).optional(), 'Roles from the token.', ['editor']),
    transaction: field(WhoamiTransaction.optional(), 'Transaction of a context token.'),
    namespace: field(z.string().optional(), 'Namespace of requests that name none.', 'default'),
    boundNamespace: field(
      z.string().optional(),
      'The only namespace that the caller may act in. Absent: all namespaces.',
      'team-a',
    ),
    role: field(z.enum(accessRoles).optional(), 'What the caller may do. Absent: the RBAC of the cluster decides.'),
    serverTools: field(z.boolean(), "Whether the proxies offer the tools of the service to this caller's models."),
  })
  .meta({ id: 'Whoami' })
export type Whoami = z.infer<typeof Whoami>

const known = routesOf({ tag: 'Authentication', base: '/api/v1/auth' })

export const validateToken = known.get('/validate', {
  summary: 'Validate the credential',
  description: 'Answers 200 when the credential is valid, and 401 when it is not.',
  responses: { 200: { description: 'The credential is good', schema: Validation } },
})

export const getWhoami = known.get('/whoami', {
  summary: 'Who the credential belongs to, and what it allows',
  description: 'Answers the name, groups, namespace and role of the caller.',
  responses: { 200: { description: 'The caller', schema: Whoami } },
})

/** A link that signs in once. */
export const SignInLink = z
  .object({
    code: field(
      z.string(),
      'What the link carries, behind `#signin=` in the address of the dashboard. It is shown this once.',
      'svc_link_0192f0c1',
    ),
    expiresAt: field(Timestamp, 'Until when it can be used.'),
  })
  .meta({ id: 'SignInLink' })

/** The code of a sign-in link. */
export const SignInExchange = z
  .strictObject({ code: field(limitedText(128).min(1), 'The code of a link.', 'svc_link_0192f0c1') })
  .meta({ id: 'SignInExchange' })

export const createSignInLink = known.post('/links', {
  summary: 'Make a link that signs in on the dashboard once',
  description:
    'Makes a code for one sign-in within two minutes, with the rights of the caller. Only tokens of this service make them: ' +
    'other callers sign in on the dashboard itself.',
  responses: { 201: { description: 'The code', schema: SignInLink } },
})

const open = routesOf({ tag: 'Authentication', base: '/api/v1/auth', auth: 'none' })

export const exchangeSignInLink = open.post('/links/exchange', {
  summary: 'Sign in with the code of a link',
  description:
    'Spends the code for a token that acts as the caller who made the link, for twelve hours and not longer than the token ' +
    'of that caller. A code that is unknown, used or too old is answered with 401.',
  body: SignInExchange,
  responses: { ...errorResponses(401, 429), 201: { description: 'The token', schema: TokenCreated } },
})

export const signOut = known.delete('/token', {
  summary: 'Sign out: revoke the token of this request',
  description:
    'Revokes the token that the request carries, if it came from a sign-in link; other tokens stay valid (409).',
  responses: { ...errorResponses(409), 204: { description: 'Revoked' } },
})

/** An issuer at which people sign in on the dashboard: authorization code with PKCE, as a public client. */
export const OidcSignIn = z
  .object({
    name: field(z.string(), 'What people know it by: its host.', 'issuer.example.com'),
    issuer: field(z.string(), 'Its address, below which its metadata is.', 'https://issuer.example.com'),
    clientId: field(z.string(), 'Client id of the dashboard there.', 'svc-dashboard'),
    scopes: field(z.array(z.string()), 'Scopes to ask for.', ['openid', 'profile', 'email']),
    tokenKind: field(z.enum(['access', 'id']), "Which of the issuer's tokens is sent to this service."),
  })
  .meta({ id: 'OidcSignIn' })
export type OidcSignIn = z.infer<typeof OidcSignIn>

/** The ways to sign in. */
export const SignInMethods = z
  .object({
    token: field(z.literal(true), 'A token can be pasted.'),
    oidc: field(z.array(OidcSignIn), 'Issuers, if any.'),
  })
  .meta({ id: 'SignInMethods' })

export const getSignInMethods = open.get('/methods', {
  summary: 'How one signs in on the dashboard',
  description: 'Answers what the sign-in page needs, before anybody is signed in; nothing of it is secret.',
  responses: { 200: { description: 'The ways', schema: SignInMethods } },
})
