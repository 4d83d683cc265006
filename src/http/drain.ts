// Closes the HTTP side gracefully, within a time limit.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type Drain = {
  /** Aborted when draining starts. */
  signal: AbortSignal
  run(timeoutMs: number): Promise<void>
}

/** How often to look for idle connections; also the time allowed for a request that is about to arrive on one. */
const sweepMs = 100

function trackSockets(server: FastifyInstance): Set<Socket> {
  const sockets = new Set<Socket>()
  // A TLS server emits both; the underlying socket carries bytes from the handshake on.
  for (const event of ['connection', 'secureConnection']) {
    server.server.on(event, (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  }
  return sockets
}

export function createDrain(server: FastifyInstance): Drain {
  const draining = new AbortController()
  const sockets = trackSockets(server)
  server.addHook('onSend', (_request, reply, _payload, done) => {
    // Clients with a kept-alive connection find the next server by themselves.
    if (draining.signal.aborted) reply.header('connection', 'close')
    done()
  })

  /**
   * Node only counts a connection between two requests as idle, not one that never had a request (http.Server, Node
   * 24).
   */
  function closeUnused(): void {
    server.server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  return {
    signal: draining.signal,
    async run(timeoutMs) {
      draining.abort()
      const sweep = setInterval(closeUnused, sweepMs)
      const cutOff = setTimeout(() => server.server.closeAllConnections(), timeoutMs)
      try {
        await server.close()
      } finally {
        clearTimeout(cutOff)
        clearInterval(sweep)
      }
    },
  }
}
