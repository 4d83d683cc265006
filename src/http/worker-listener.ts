// With TLS the certificate is for the service's public names; workers on this machine use a loopback listener instead.
import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { createServer } from './node-http.ts'
import { unreadEvents } from './unread.ts'

const workerPath = /^\/internal\/v1\//
const headersTimeoutMs = 20_000
const requestTimeoutMs = 300_000

/** Created without listening. Passes on the worker API and nothing else. */
export function createWorkerListener(app: FastifyInstance): Server {
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (!workerPath.test(request.url ?? '')) return response.writeHead(404).end('only the worker API is served here\n')
    app.server.emit('request', request, response)
  })
  for (const event of unreadEvents) server.on(event, (...details) => app.server.emit(event, ...details))
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  return server
}
