// A proxied request as a span, in the attribute names of the OpenTelemetry conventions for generative AI.
import type { Span } from './traces.ts'

export type ModelCall = {
  family: string
  provider: string
  model: string
  requestId: string
  endpoint: string
  mode: string
  outcome: string
  totalMs: number
  firstByteMs?: number
  usage?: { inputTokens: number; outputTokens: number; cachedTokens: number; cacheWriteTokens?: number }
}

/** The conventions' names for what an endpoint does: `gen_ai.operation.name` of their registry. */
const operations: Record<string, string> = {
  messages: 'chat',
  chat: 'chat',
  embeddings: 'embeddings',
  responses: 'chat',
}

function describeUsage({ usage }: ModelCall): Span['attributes'] {
  if (usage === undefined) return {}
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens ?? 0,
  }
}

/** `endMs`: when it ended, in milliseconds of the epoch. */
export function makeModelSpan(call: ModelCall, endMs: number): Span {
  const operation = operations[call.endpoint] ?? call.endpoint
  return {
    name: `${operation} ${call.model}`,
    startMs: endMs - call.totalMs,
    endMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': call.provider,
      'gen_ai.request.model': call.model,
      ...describeUsage(call),
      'http.request_id': call.requestId,
      'svc.proxy.family': call.family,
      'svc.proxy.mode': call.mode,
      ...(call.firstByteMs === undefined ? {} : { 'svc.proxy.first_byte_ms': call.firstByteMs }),
    },
    ...(call.outcome === 'ok' ? {} : { error: call.outcome }),
  }
}
