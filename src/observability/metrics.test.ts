import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

describe('the metrics', () => {
  it('count requests by route pattern, method and status', async () => {
    const metrics = createMetrics()
    metrics.observeRequest({ endpoint: '/api/v1/tasks/:id', method: 'GET', status: 200, seconds: 0.002 })
    metrics.observeRequest({ endpoint: '/api/v1/tasks/:id', method: 'GET', status: 200, seconds: 0.2 })
    const { text, contentType } = await metrics.expose()
    expect(contentType).toContain('text/plain')
    expect(text).toContain('svc_api_requests_total{endpoint="/api/v1/tasks/:id",method="GET",status="200"} 2')
    expect(text).toContain('svc_api_request_duration_seconds_count{endpoint="/api/v1/tasks/:id",method="GET"} 2')
  })

  it('read gauges from their sources when asked', async () => {
    const metrics = createMetrics()
    let depth = 3
    metrics.attach({ queueDepth: () => depth, taskPhases: async () => ({ Running: 2 }) })
    metrics.attach({ workers: async () => ({ idle: 1, busy: 4 }) })
    expect((await metrics.expose()).text).toContain('svc_queue_depth 3')
    depth = 5
    const { text } = await metrics.expose()
    expect(text).toContain('svc_queue_depth 5')
    expect(text).toContain('svc_tasks{phase="Running"} 2')
    expect(text).toContain('svc_workers{state="busy"} 4')
  })

  it('count open streams down again when they end', async () => {
    const metrics = createMetrics()
    const end = metrics.trackStream()
    metrics.trackStream()
    end()
    expect((await metrics.expose()).text).toContain('svc_execution_event_stream_connections_current 1')
  })

  it('are separate per registry, so that two services in one process do not mix', async () => {
    const first = createMetrics()
    const second = createMetrics()
    first.countTransition('Running')
    expect((await second.expose()).text).not.toContain('phase="Running"')
  })
})
