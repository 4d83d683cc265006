// Cross-origin requests of web pages: refused unless the owner allowed the page's origin (HTTP-044).
import type { FastifyReply, FastifyRequest } from 'fastify'

const methods = 'GET, POST, PUT, DELETE'
const headers =
  'authorization, x-api-key, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-request-id, txn-token, ' +
  'anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access, llma-version, x-svc-tools'
const exposed =
  'etag, retry-after, x-request-id, idempotency-replayed, x-svc-tools-added, x-svc-left-out, x-svc-estimated, x-svc-reason'

/** Headers for an answer to a page; empty when pages of its origin may not read it. */
export function createCorsHeaders(origins: readonly string[]): (origin: string | undefined) => Record<string, string> {
  const allowed = new Set(origins)
  return (origin): Record<string, string> => {
    if (allowed.size === 0 || origin === undefined) return {}
    if (!allowed.has('*') && !allowed.has(origin)) return { vary: 'Origin' }
    return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
  }
}

/** Creates the check; it returns true when the request was a preflight and has been answered. */
export function createCors(origins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const headersFor = createCorsHeaders(origins)
  return (request, reply) => {
    const answered = headersFor(request.headers.origin)
    reply.headers(answered)
    if (answered['access-control-allow-origin'] === undefined) return false
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false
    reply
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', headers)
      .header('access-control-max-age', '600')
      .code(204)
      .send()
    return true
  }
}
