// The body of a proxied request as raw bytes: its type must be JSON and its size within the limit; it is not parsed
// here.
import type { IncomingMessage } from 'node:http'
import { SvcError } from '../../errors.ts'

const jsonType = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i

function tooLarge(limit: number): SvcError {
  return new SvcError('TooLarge', `the body is larger than ${limit} bytes; send less at once`)
}

/** UnsupportedMediaType when it is not JSON, or compressed; TooLarge when Content-Length is over the limit. */
export function checkBodyHeaders({ headers }: IncomingMessage, limit: number): void {
  if (!jsonType.test(headers['content-type'] ?? '')) {
    throw new SvcError(
      'UnsupportedMediaType',
      'the body must be JSON; send it with the header Content-Type: application/json',
    )
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new SvcError(
      'UnsupportedMediaType',
      `Content-Encoding ${encoding.slice(0, 50)} is not supported here; send the body uncompressed`,
    )
  }
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
}

/** TooLarge beyond the limit; ClientClosed when the client disconnects before the end. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) return void parts.push(chunk)
      request.off('data', onData)
      reject(tooLarge(limit))
    }
    // Both events also come after the end; the error is only created when one is due.
    const onGone = () => {
      if (!request.complete) reject(new SvcError('ClientClosed', 'the client closed the connection'))
    }
    request.on('data', onData)
    request.once('end', () => {
      request.off('close', onGone)
      resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))
    })
    request.once('error', onGone)
    request.once('close', onGone)
  })
}
