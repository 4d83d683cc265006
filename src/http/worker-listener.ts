// With TLS the certificate is for people and their names; workers on this machine come to a loopback listener of their own.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'

const workerPath = /^\/internal\/v1\//
const headersTimeoutMs = 20_000
const requestTimeoutMs = 300_000

/** Not listening yet. Hands on the worker API and nothing else. */
export function createWorkerListener(app: FastifyInstance): Server {
  const server = createServer((request, response) => {
    if (!workerPath.test(request.url ?? '')) return response.writeHead(404).end('only the worker API is here\n')
    for (const listener of app.server.listeners('request') as RequestListener[]) listener(request, response)
  })
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  return server
}
