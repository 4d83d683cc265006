// Ends the HTTP side in good order, within a time.
import type { FastifyInstance } from 'fastify'

export type Drain = {
  /** Aborted once draining began. */
  signal: AbortSignal
  run(timeoutMs: number): Promise<void>
}

export function createDrain(server: FastifyInstance): Drain {
  const draining = new AbortController()
  server.addHook('onSend', (_request, reply, _payload, done) => {
    // Clients with a kept connection find the next server by themselves.
    if (draining.signal.aborted) reply.header('connection', 'close')
    done()
  })
  return {
    signal: draining.signal,
    async run(timeoutMs) {
      draining.abort()
      const cutOff = setTimeout(() => server.server.closeAllConnections(), timeoutMs)
      try {
        await server.close()
      } finally {
        clearTimeout(cutOff)
      }
    },
  }
}
