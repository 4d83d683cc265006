// Metrics on their own listener, for a scraper inside the cluster: no credential, and none of the API.
import type { Server } from 'node:http'
import type { Metrics } from '../observability/metrics.ts'
import { createServer } from './node-http.ts'

/** Created without listening. Answers GET /metrics and nothing else. */
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
