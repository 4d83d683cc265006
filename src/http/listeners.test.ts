import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../observability/metrics.ts'
import { createMetricsServer } from './listeners.ts'

const metrics = createMetrics()
const server = createMetricsServer(metrics)
let url: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

describe('the listener of metrics', () => {
  it('answers the text format of Prometheus without a credential', async () => {
    metrics.observeRequest({ endpoint: '/healthz', method: 'GET', status: 200, seconds: 0.01 })
    const answer = await fetch(`${url}/metrics`)
    expect(answer.headers.get('content-type')).toContain('text/plain')
    expect(await answer.text()).toContain('svc_api_requests_total{endpoint="/healthz",method="GET",status="200"} 1')
  })

  it('has nothing else', async () => {
    expect((await fetch(`${url}/api/v1/tasks`)).status).toBe(404)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  })
})
