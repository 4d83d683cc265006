import { describe, expect, it } from 'vitest'
import { createTraces, makeModelSpan, type Span } from './traces.ts'

const call = {
  family: 'llma',
  provider: 'llma',
  model: 'm-1',
  requestId: 'req-1',
  endpoint: 'messages',
  mode: 'passthrough',
  outcome: 'ok',
  totalMs: 250,
}

describe('the span of a model call', () => {
  it('names the operation and the model, and counts tokens', () => {
    const usage = { inputTokens: 5, outputTokens: 2, cachedTokens: 1, cacheWriteTokens: 2 }
    expect(makeModelSpan({ ...call, usage }, 1000)).toEqual({
      name: 'chat m-1',
      startMs: 750,
      endMs: 1000,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'llma',
        'gen_ai.request.model': 'm-1',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.usage.output_tokens': 2,
        'gen_ai.usage.cache_read.input_tokens': 1,
        'gen_ai.usage.cache_creation.input_tokens': 2,
        'http.request_id': 'req-1',
        'svc.proxy.family': 'llma',
        'svc.proxy.mode': 'passthrough',
      },
    })
  })

  it('has an error when the call failed or was aborted', () => {
    expect(makeModelSpan({ ...call, outcome: 'aborted' }, 1000)).toMatchObject({ error: 'aborted' })
  })
})

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
    const traces = createTraces({
      source: { version: '1.2.3', instance: 'i-1' },
      send: async (body) => void sent.push(body),
    })
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

  it('are sent once where a span comes again before it was sent', async () => {
    const sent: string[] = []
    const traces = createTraces({
      source: { version: '1', instance: 'i-1' },
      send: async (body) => void sent.push(body),
    })
    const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: 'c'.repeat(16) }
    for (const endMs of [1_700_000_000_001, 1_700_000_000_002])
      traces.record(span('execute_tool x', { kind: 'internal', context, endMs }))
    await traces.close()
    expect(JSON.parse(sent.join()).resourceSpans[0].scopeSpans[0].spans).toMatchObject([
      { ...context, kind: 1, endTimeUnixNano: '1700000000002000000' },
    ])
  })

  it('are dropped without an error when the collector does not take them', async () => {
    let sizes: number[] = []
    const traces = createTraces({
      source: { version: '1', instance: 'i-1' },
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
