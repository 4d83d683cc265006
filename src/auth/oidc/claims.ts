// From the claims of an OpenID Connect token to a caller.
import type { Caller } from '../../ports/identity/identity.ts'
import type { IssuerRights } from '../../rules/identity/issuer-rights.ts'
import type { Claims } from '../signed-token.ts'
import { requireStanding } from '../standing.ts'

/** Bounds of what is stamped on tasks (TASK-014). */
const longestText = 1024
const mostTexts = 512

export function readText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || value.length > longestText) return undefined
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined
}

/** A claim that is one string or a list of strings. */
function readTexts(value: unknown): string[] {
  const listed: unknown[] = Array.isArray(value) ? value.slice(0, mostTexts) : [value]
  return listed.map(readText).filter((text) => text !== undefined)
}

function readRealmRoles(value: unknown): string[] {
  if (value === null || typeof value !== 'object' || !('roles' in value)) return []
  return readTexts(value.roles)
}

/** Forbidden for a caller without rights here. */
export function toCaller(claims: Claims, rights: IssuerRights): Caller {
  const email = readText(claims.email)
  const username = readText(claims.preferred_username) ?? email ?? readText(claims.name) ?? claims.sub
  const roles = [...new Set([...readTexts(claims.roles), ...readRealmRoles(claims.realm_access)])].slice(0, mostTexts)
  const groups = readTexts(claims.groups)
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
