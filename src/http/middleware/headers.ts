// The request's id (the caller's if it is well-formed, else a new one), and the headers of every answer.
import type { IncomingMessage } from 'node:http'
import type { Ids } from '../../lib/clock.ts'

const sane = /^[A-Za-z0-9._-]{1,128}$/

export function createRequestIds(ids: Ids): (request: IncomingMessage) => string {
  return (request) => {
    const sent = request.headers['x-request-id']
    return typeof sent === 'string' && sane.test(sent) ? sent : ids.next('req')
  }
}

/** They tell browsers that this is data, not a page, and must not be framed. */
const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

/** Over TLS, browsers must also stay with TLS (RFC 6797). */
export function securityHeadersOf(isEncrypted: boolean): Readonly<Record<string, string>> {
  return isEncrypted ? { ...always, 'strict-transport-security': 'max-age=31536000' } : always
}
