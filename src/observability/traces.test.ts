import { describe, expect, it } from 'vitest'
import { createTraces, type Span } from './traces.ts'

const span = (name: string, more: Partial<Span> = {}): Span => ({
  name,
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 3 },
  ...more,
})

describe('traces', () => {
  it('are sent as OTLP in JSON', async () => {
    const sent: string[] = []
    const traces = createTraces({ version: '1.2.3', send: async (body) => void sent.push(body) })
    traces.record(span('chat m'))
    traces.record(span('chat x', { error: 'failed' }))
    await traces.close()
    expect(sent).toHaveLength(1)
    const [resourceSpans] = JSON.parse(sent[0] ?? '{}').resourceSpans
    expect(resourceSpans.resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'svc' } })
    const [good, bad] = resourceSpans.scopeSpans[0].spans
    expect(good).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'chat m',
      kind: 3,
      startTimeUnixNano: '1700000000000250000',
      endTimeUnixNano: '1700000000001000000',
      status: {},
    })
    expect(good.attributes).toContainEqual({ key: 'gen_ai.usage.input_tokens', value: { intValue: '3' } })
    expect(bad).toMatchObject({ status: { code: 2 } })
    expect(bad.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'failed' } })
  })

  it('are dropped without an error when the collector does not take them', async () => {
    let sizes: number[] = []
    const traces = createTraces({
      version: '1',
      send: async (body) => {
        sizes = [...sizes, JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.length]
        throw new Error('the collector is away')
      },
    })
    for (let count = 0; count < 5000; count += 1) traces.record(span('chat m'))
    await traces.close()
    expect(sizes).toEqual(Array.from({ length: 8 }, () => 512))
  })
})
