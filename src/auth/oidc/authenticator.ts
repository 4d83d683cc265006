// OpenID Connect: tokens of one issuer, for this service, of the subjects that the operator allows.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { Authenticator, Caller } from '../../ports/identity/identity.ts'
import type { IssuerRights } from '../../rules/identity/issuer-rights.ts'
import { createSubjectCheck } from '../../rules/resources/selectors.ts'
import { type DocumentOptions, type FetchLike, fetchObject } from '../document.ts'
import { createKeySet } from '../key-set.ts'
import {
  type Claims,
  createVerifiedCallers,
  refuseToken,
  requireStanding,
  type VerifyOptions,
  verifyToken,
} from '../signed-token.ts'
import type { JoseHeader } from '../token-text.ts'

export type OidcSettings = IssuerRights & {
  issuer: string
  /** The service's names; one of them among the audiences of a token suffices. */
  audiences: readonly string[]
  jwksUrl?: string
  /** Patterns with `*` and `?`; an empty list allows nobody. */
  allowedSubjects: readonly string[]
}

export type IssuerDeps = {
  clock: Clock
  fetch?: FetchLike
  /** Called when the issuer cannot be reached. */
  onFailure?: (error: unknown) => void
}

const maxSubjectLength = 1024
/** ID tokens and access tokens (RFC 9068); tokens for another purpose are refused (RFC 8725 section 3.11). */
const types = new Set(['jwt', 'at+jwt', 'application/at+jwt', 'application/jwt'])

function acceptsType({ typ }: JoseHeader): boolean {
  return typ === undefined || types.has(typ.toLowerCase())
}

export function createOidcAuthenticator(settings: OidcSettings, deps: IssuerDeps): Authenticator {
  const { issuer, jwksUrl } = settings
  const { clock, onFailure } = deps
  const address = { issuer, jwksUrl }
  const load = () => loadIssuerKeys(address, deps.fetch === undefined ? {} : { fetch: deps.fetch })
  const keys = createKeySet({ load, clock, onFailure })
  const callers = createVerifiedCallers({ clock, keys })
  const isAllowed = createSubjectCheck(settings.allowedSubjects)
  const options: VerifyOptions = {
    keys,
    clock,
    issuer,
    audiences: settings.audiences,
    acceptsHeader: acceptsType,
    requiredTexts: [],
    requiredTimes: [],
  }

  async function verify(text: string) {
    const token = await verifyToken(text, options)
    const { sub } = token.claims
    if (sub.length > maxSubjectLength) refuseToken('subject too long')
    // Known but not allowed (OIDC-013): checked last, so that nobody can find out which subjects are.
    if (!isAllowed(sub)) throw new SvcError('Forbidden', 'the subject of this token is not allowed to use the service')
    return { caller: toCaller(token.claims, settings), token }
  }

  return { authenticate: ({ token }) => callers.recall(token, () => verify(token)) }
}

// From the claims of an OpenID Connect token to a caller.

/** Bounds of what is stamped on tasks (TASK-014). */
const maxTextLength = 1024
const maxTexts = 512

function readTextClaim(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || value.length > maxTextLength) return undefined
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined
}

/** A claim that is one string or a list of strings. */
function readTextClaims(value: unknown): string[] {
  const listed: unknown[] = Array.isArray(value) ? value.slice(0, maxTexts) : [value]
  return listed.map(readTextClaim).filter((text) => text !== undefined)
}

function readRealmRoles(value: unknown): string[] {
  if (value === null || typeof value !== 'object' || !('roles' in value)) return []
  return readTextClaims(value.roles)
}

/** Forbidden for a caller without rights here. */
function toCaller(claims: Claims, rights: IssuerRights): Caller {
  const email = readTextClaim(claims.email)
  const username = readTextClaim(claims.preferred_username) ?? email ?? readTextClaim(claims.name) ?? claims.sub
  const roles = [...new Set([...readTextClaims(claims.roles), ...readRealmRoles(claims.realm_access)])].slice(
    0,
    maxTexts,
  )
  const groups = readTextClaims(claims.groups)
  return {
    authType: 'oidc',
    username,
    // User names and mail addresses can be reassigned; the subject cannot (OpenID Connect Core 1.0 section 5.7).
    uid: claims.sub,
    groups,
    subject: claims.sub,
    issuer: claims.iss,
    email,
    roles,
    ...requireStanding({ subject: claims.sub, groups }, rights),
    serverTools: true,
  }
}

// Where an issuer's keys are: at the configured address, or where its metadata says (OpenID Connect Discovery 1.0).

type IssuerAddress = {
  issuer: string
  /** Absent: read from the issuer's metadata. */
  jwksUrl?: string
}

/** Section 4.1: the issuer's own path, without a slash at its end, comes before the well-known one. */
function metadataUrlOf(issuer: string): string {
  return `${trimTrailing(issuer, '/')}/.well-known/openid-configuration`
}

function isAddress(value: unknown, issuer: string): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol } = new URL(value)
  // An issuer with a secure address may not send us to keys that anybody on the way could replace.
  return protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'))
}

async function discoverKeys(issuer: string, options: DocumentOptions): Promise<string> {
  const metadata = await fetchObject(metadataUrlOf(issuer), options)
  // Section 4.3: metadata of another issuer is invalid here.
  if (metadata.issuer !== issuer || !isAddress(metadata.jwks_uri, issuer)) {
    const cause = new Error('the metadata names another issuer, or no usable jwks_uri')
    throw new SvcError('Unavailable', 'the issuer of the token cannot be reached: try again later', { cause })
  }
  return metadata.jwks_uri
}

/** The issuer's JWKS document. Unavailable when it cannot be fetched. */
export async function loadIssuerKeys(
  address: IssuerAddress,
  options: DocumentOptions = {},
): Promise<Record<string, unknown>> {
  return fetchObject(address.jwksUrl ?? (await discoverKeys(address.issuer, options)), options)
}
