// A body that is consumed as it arrives, up to a limit, and never held in memory as a whole.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { SvcError } from '../errors.ts'

export type Upload = { body: Readable; contentType: string }

function tooLarge(limit: number): SvcError {
  return new SvcError('TooLarge', `the body has more than the ${limit} bytes allowed here`)
}

/** Leaves the rest of the source readable, so that the connection can still carry the answer. */
async function* limitBytes(source: Readable, limit: number): AsyncGenerator<Buffer> {
  let left = limit
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    left -= chunk.length
    if (left < 0) throw tooLarge(limit)
    yield chunk
  }
  if (!source.readableEnded) throw new SvcError('ClientClosed', 'the client disconnected')
}

/** TooLarge at once when Content-Length is over the limit, otherwise as soon as more bytes have arrived. */
export function readUpload(request: FastifyRequest, limit: number): Upload {
  if (Number(request.headers['content-length']) > limit) throw tooLarge(limit)
  return {
    body: Readable.from(limitBytes(request.raw, limit), { objectMode: false }),
    contentType: request.headers['content-type'] ?? 'application/octet-stream',
  }
}
