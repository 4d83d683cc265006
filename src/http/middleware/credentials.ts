// Finds the credential of a request: `Authorization: Bearer`, then `x-api-key`; never a cookie (HTTP-045).
import type { IncomingHttpHeaders } from 'node:http'
import { SvcError } from '../../errors.ts'
import type { Credential } from '../../ports/identity.ts'

const missing = 'missing authorization header'

/** The credential; Unauthenticated when there is none. A malformed Authorization does not fall through to x-api-key. */
export function readCredential(headers: IncomingHttpHeaders): Credential {
  const { authorization } = headers
  if (authorization !== undefined && authorization !== '') {
    const token = /^Bearer(?:\s+(.*))?$/i.exec(authorization)
    if (token === null) throw new SvcError('Unauthenticated', 'invalid authorization header format')
    if (!token[1]?.trim()) throw new SvcError('Unauthenticated', missing)
    return { token: token[1].trim(), source: 'bearer' }
  }
  const key = headers['x-api-key']
  if (typeof key === 'string' && key.trim() !== '') return { token: key.trim(), source: 'x-api-key' }
  throw new SvcError('Unauthenticated', missing)
}
