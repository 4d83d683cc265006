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

  it('read gauges from their sources at each scrape', async () => {
    const metrics = createMetrics()
    let depth = 3
    metrics.attach({ queueDepth: () => depth, taskPhases: async () => ({ Running: 2 }) })
    metrics.attach({ attempts: async () => ({ own: 1, shared: 4 }) })
    expect((await metrics.expose()).text).toContain('svc_queue_depth 3')
    depth = 5
    const { text } = await metrics.expose()
    expect(text).toContain('svc_queue_depth 5')
    expect(text).toContain('svc_tasks{phase="Running"} 2')
    expect(text).toContain('svc_attempts{isolation="shared"} 4')
  })

  it('decrease the number of open streams when a stream ends', async () => {
    const metrics = createMetrics()
    const end = metrics.trackStream()
    metrics.trackStream()
    end()
    expect((await metrics.expose()).text).toContain('svc_execution_event_stream_connections_current 1')
  })

  it('have numbers only, and no lag of the event loop before one was measured', async () => {
    const values = (await createMetrics().expose()).text.matchAll(/^(nodejs_\w+\S*) (\S+)$/gm)
    for (const [, name, value] of values) {
      expect([name, Number.isFinite(Number(value))]).toEqual([name, true])
      if (name?.includes('lag')) expect(Number(value)).toBeLessThan(1000)
    }
  })

  it('are separate per registry, so that two services in one process do not mix', async () => {
    const first = createMetrics()
    const second = createMetrics()
    first.observeTask({ type: 'ai', phase: 'Running' })
    expect((await second.expose()).text).not.toContain('phase="Running"')
  })

  it('have a value in every family at the first scrape', async () => {
    const words = { types: ['ai'], phases: ['Running', 'Failed'], endPhases: ['Failed'] }
    const metrics = createMetrics(words)
    metrics.attach({ providers: async () => [{ namespace: 'team', name: 'main', currency: 'EUR' }] })
    const { text } = await metrics.expose()
    const families = [...text.matchAll(/^# TYPE (svc_\S+) /gm)].map(([, name]) => name)
    expect(families.length).toBeGreaterThan(20)
    for (const name of families) {
      const values = [...text.matchAll(new RegExp(`^${name}(?:_count)?(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(
        ([, value]) => value,
      )
      expect([name, values.length > 0, values.every((value) => Number.isFinite(Number(value)))]).toEqual([
        name,
        true,
        true,
      ])
    }
    expect(text).toContain('svc_task_transitions_total{phase="Failed"} 0')
    expect(text).toContain('svc_task_retries_total{type="ai"} 0')
    expect(text).toContain('svc_task_queue_wait_seconds_count{type="ai"} 0')
    expect(text).toContain('svc_task_duration_seconds_count{type="ai",phase="Failed"} 0')
    expect(text).toContain('svc_tokens_total{namespace="team",provider="main",kind="input"} 0')
    expect(text).toContain('svc_cost_total{namespace="team",provider="main",currency="EUR",kind="exact"} 0')
  })

  it('count tokens and money by Provider, with a series for a limited number of Providers', async () => {
    const metrics = createMetrics()
    const used = { inputTokens: 10, outputTokens: 2, cachedTokens: 4, cacheWriteTokens: 3, cost: 0.5, currency: 'USD' }
    for (let at = 0; at < 600; at += 1) metrics.countUsage({ namespace: 'team', provider: `p-${at}`, ...used })
    metrics.countUsage({ namespace: 'team', provider: 'p-0', ...used })
    const { text } = await metrics.expose()
    expect(text).toContain('svc_tokens_total{namespace="team",provider="p-0",kind="input"} 20')
    expect(text).toContain('svc_tokens_total{namespace="team",provider="p-499",kind="cached"} 4')
    expect(text).toContain('svc_tokens_total{namespace="team",provider="p-499",kind="cache_write"} 3')
    expect(text).toContain('svc_cost_total{namespace="team",provider="p-0",currency="USD",kind="exact"} 1')
    expect(text).not.toContain('p-500')
    expect(text).toContain('svc_tokens_total{namespace="other",provider="other",kind="output"} 200')
  })
})
