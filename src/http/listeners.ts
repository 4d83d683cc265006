// Listeners beside the main one: for a scraper inside the cluster, and for workers on this machine.
import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../lib/node-http.ts'
import type { Metrics } from '../observability/metrics.ts'
import { unreadEvents } from './known-paths.ts'

/** Metrics for a scraper, without a credential. Created without listening; answers only GET /metrics. */
export function createMetricsServer(metrics: Pick<Metrics, 'expose'>): Server {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path !== '/metrics') return response.writeHead(404).end('metrics are at /metrics\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405, { allow: 'GET' }).end()
    metrics.expose().then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end('the metrics are not available now\n'),
    )
  })
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  return server
}

const workerPath = /^\/internal\/v1\//
const headersTimeoutMs = 20_000
const requestTimeoutMs = 300_000

/**
 * For workers on this machine, since the TLS certificate is for the service's public names. Created without listening;
 * passes on only the worker API.
 */
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
