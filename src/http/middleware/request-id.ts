// The request's id in logs and errors: the caller's if it is well-formed, else a fresh one (HTTP-030).
import type { IncomingMessage } from 'node:http'
import type { Ids } from '../../ports/clock.ts'

const sane = /^[A-Za-z0-9._-]{1,128}$/

export function createRequestIds(ids: Ids): (request: IncomingMessage) => string {
  return (request) => {
    const given = request.headers['x-request-id']
    return typeof given === 'string' && sane.test(given) ? given : ids.next('req')
  }
}
