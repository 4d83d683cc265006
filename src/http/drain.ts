// Ends the HTTP side in good order, within a time.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type Drain = {
  /** Aborted once draining began. */
  signal: AbortSignal
  run(timeoutMs: number): Promise<void>
}

/** How often connections that became free are looked for; also the time of a request that was on its way to a new one. */
const sweepMs = 100

function trackSockets(server: FastifyInstance): Set<Socket> {
  const sockets = new Set<Socket>()
  // Of a TLS server both come: what lies below has bytes of its own from the handshake on.
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
    // Clients with a kept connection find the next server by themselves.
    if (draining.signal.aborted) reply.header('connection', 'close')
    done()
  })

  /** Node's idle connections are those between two requests; one that never had any is none to it (http.Server, Node 24). */
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
