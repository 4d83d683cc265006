import { describe, expect, it } from 'vitest'
import { makeModelSpan } from './model-spans.ts'

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
