// Cross-origin calls of web pages: none, unless the owner named the page's origin (HTTP-044).
import type { FastifyReply, FastifyRequest } from 'fastify'

const methods = 'GET, POST, PUT, DELETE'
const headers =
  'authorization, x-api-key, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-request-id, txn-token'
const exposed = 'etag, retry-after, x-request-id, idempotency-replayed'

/** Makes the check; it answers true when the request was a preflight and is answered. */
export function createCors(origins: readonly string[]): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const allowed = new Set(origins)
  return (request, reply) => {
    const origin = request.headers.origin
    if (allowed.size === 0 || origin === undefined) return false
    reply.header('vary', 'Origin')
    if (!allowed.has('*') && !allowed.has(origin)) return false
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposed)
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
