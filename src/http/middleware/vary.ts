// The headers of a request that an answer depends on (RFC 9110 section 12.5.5), added to those that are named already.
import type { FastifyReply } from 'fastify'

export function addVary(reply: FastifyReply, ...names: string[]): void {
  const given = reply.getHeader('vary')
  reply.header('vary', [...(given === undefined ? [] : [given]), ...names].join(', '))
}
