// Whether the client of a blocking request is still there.
import type { FastifyRequest } from 'fastify'

// A reason of its own: making the usual one costs a stack trace for every request.
export const gone = new Error('the stream has ended')

/** A signal that aborts when the client of a blocking request goes away. */
export function watchClient({ raw }: FastifyRequest): { signal: AbortSignal; release(): void } {
  const left = new AbortController()
  const abort = () => left.abort(gone)
  raw.socket.once('close', abort)
  if (raw.socket.destroyed) abort()
  return { signal: left.signal, release: () => raw.socket.off('close', abort) }
}
