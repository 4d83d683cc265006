// Finds the credential of a request: a configured context-token header, then `Authorization: Bearer`, then `x-api-key`;
// never a cookie (HTTP-045).
import type { IncomingHttpHeaders } from 'node:http'
import { SvcError } from '../../errors.ts'
import type { Credential } from '../../ports/identity/identity.ts'

/** A header for context tokens; its name in lower case. */
export type CredentialHeader = { header: string; scheme?: string }

const missing = 'missing authorization header'
const badContextHeader = 'invalid context token header format'

function refuse(message: string): never {
  throw new SvcError('Unauthenticated', message)
}

/** The token after the scheme; undefined when the scheme differs or nothing follows it. */
function readScheme(value: string, scheme: string): string | undefined {
  const [sent = '', ...rest] = value.trim().split(/\s+/)
  return sent.toLowerCase() === scheme.toLowerCase() && rest.length === 1 ? rest[0] : undefined
}

function readContextHeader(value: string, { scheme }: CredentialHeader): string {
  return (scheme === undefined ? value.trim() : readScheme(value, scheme)) ?? refuse(badContextHeader)
}

/** A context token in its own header; undefined when none of the headers is present. */
function findContextToken(headers: IncomingHttpHeaders, configured: readonly CredentialHeader[]): string | undefined {
  for (const entry of configured) {
    const value = headers[entry.header]
    if (entry.header === 'authorization' || value === undefined || value === '') continue
    return readContextHeader(String(value), entry)
  }
  return undefined
}

function readAuthorization(value: string, schemes: readonly string[]): Credential {
  const bearer = /^Bearer(?:\s([\s\S]*))?$/i.exec(value)
  if (bearer !== null) return { token: bearer[1]?.trim() || refuse(missing), source: 'bearer' }
  const token = schemes.map((scheme) => readScheme(value, scheme)).find((found) => found !== undefined)
  if (token !== undefined) return { token, source: 'context' }
  return refuse(schemes.length === 0 ? 'invalid authorization header format' : badContextHeader)
}

/**
 * The credential; Unauthenticated when there is none. A malformed Authorization header does not fall through to
 * x-api-key. A bearer token looks the same in every scheme: its `typ` says whether it is a context token, which is
 * decided elsewhere.
 */
export function readCredential(headers: IncomingHttpHeaders, configured: readonly CredentialHeader[] = []): Credential {
  const context = findContextToken(headers, configured)
  if (context !== undefined) return { token: context, source: 'context' }
  const { authorization } = headers
  if (authorization !== undefined && authorization !== '') {
    const schemes = configured.flatMap(({ header, scheme }) => (header === 'authorization' ? (scheme ?? []) : []))
    return readAuthorization(authorization, schemes)
  }
  const key = headers['x-api-key']
  if (typeof key === 'string' && key.trim() !== '') return { token: key.trim(), source: 'x-api-key' }
  return refuse(missing)
}
