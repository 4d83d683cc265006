// Answers of reads, compressed for those who take it. The length of a compressed text can tell somebody who makes a browser send
// requests what stands beside their own words. Here no request of another site carries a credential (it is in a header, never in a
// cookie), reads hold no secrets, and what is answered to writes, such as a new token, is never compressed.
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary, chooseCoding } from './accept.ts'

/** Shorter ones fit into the first packet anyway. */
const minCharacters = 1024
const compress = promisify(gzip)
/** The fastest: a page of a list becomes a tenth with it. */
const options = { level: constants.Z_BEST_SPEED }

export function sendCompressed(payload: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (payload.length < minCharacters) return reply.send(payload)
  addVary(reply, 'Accept-Encoding')
  if (chooseCoding(request.headers['accept-encoding'], ['gzip']) !== 'gzip') return reply.send(payload)
  compress(payload, options).then(
    (body) => void reply.header('content-encoding', 'gzip').send(body),
    () => void reply.send(payload),
  )
  return reply
}
