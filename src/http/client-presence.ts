// Whether the client of a blocking request is still connected.
import type { FastifyRequest } from 'fastify'

// A shared reason: creating the default one costs a stack trace per request.
export const gone = new Error('the stream has ended')

/** A signal that aborts when the client of a blocking request disconnects. */
export function watchClient({ raw }: FastifyRequest): { signal: AbortSignal; release(): void } {
  const left = new AbortController()
  const abort = () => left.abort(gone)
  raw.socket.once('close', abort)
  if (raw.socket.destroyed) abort()
  return { signal: left.signal, release: () => raw.socket.off('close', abort) }
}
