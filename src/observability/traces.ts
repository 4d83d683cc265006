// Spans of model calls for an OpenTelemetry collector: OTLP over HTTP in JSON, sent in batches in the background. They
// contain no text of prompts or answers (OpenTelemetry semantic conventions for generative AI).
import { randomBytes } from 'node:crypto'

export type Span = {
  name: string
  startMs: number
  endMs: number
  attributes: Record<string, string | number | string[]>
  /** What went wrong, in a word. */
  error?: string
  /** Absent: a call of another service. */
  kind?: 'internal' | 'client'
  /** Absent: a trace of its own. A span that comes again under its id replaces the one that waits. */
  context?: { traceId: string; spanId: string; parentSpanId?: string }
}

export type Traces = {
  record(span: Span): void
  /** Sends what is pending. */
  close(): Promise<void>
}

/** Who sends: the program's version, and an id of this process alone, so that collectors do not take two replicas for one. */
export type TelemetrySource = { version: string; instance: string }

type TracesOptions = {
  source: TelemetrySource
  /** One request of the protocol. A rejection loses the batch: spans need not be reliable. */
  send(body: string): Promise<void>
  /** Called with each span once, when it is sent. */
  count?(span: Span): void
}

const flushMs = 2000
const batchSize = 512
/** The most spans to keep while the collector is unavailable; more are dropped. */
const maxWaiting = 4096
/** SPAN_KIND_INTERNAL, SPAN_KIND_CLIENT and STATUS_CODE_ERROR of opentelemetry/proto/trace/v1/trace.proto. */
const spanKinds = { internal: 1, client: 3 }
const errorStatus = 2

function encodeValue(value: string | number | string[]): object {
  if (typeof value === 'object') return { arrayValue: { values: value.map(encodeValue) } }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

export function encodeAttributes(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }))
}

/** The beginnings of a batch of spans or metrics. */
export function encodeSource({ version, instance }: TelemetrySource): { resource: object; scope: object } {
  const attributes = { 'service.name': 'svc', 'service.version': version, 'service.instance.id': instance }
  return { resource: { attributes: encodeAttributes(attributes) }, scope: { name: 'svc', version } }
}

/** Nanoseconds do not fit a number. */
export function encodeTime(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n)
}

function startContext(): NonNullable<Span['context']> {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') }
}

function encodeSpan({ name, startMs, endMs, attributes, error, kind = 'client', context }: Span): object {
  const all = error === undefined ? attributes : { ...attributes, 'error.type': error }
  return {
    ...(context ?? startContext()),
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: encodeTime(startMs),
    endTimeUnixNano: encodeTime(endMs),
    attributes: encodeAttributes(all),
    status: error === undefined ? {} : { code: errorStatus },
  }
}

export function createTraces({ source, send, count: countSpan }: TracesOptions): Traces {
  /** By id. */
  const waiting = new Map<string, Span>()
  let count = 0
  let timer: NodeJS.Timeout | undefined
  let sending = Promise.resolve()

  function encodeBatch(spans: Span[]): string {
    const { resource, scope } = encodeSource(source)
    const scopeSpans = [{ scope, spans: spans.map(encodeSpan) }]
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (waiting.size > 0) await send(encodeBatch(takeBatch())).catch(() => {})
  }

  function takeBatch(): Span[] {
    const batch = [...waiting].slice(0, batchSize)
    for (const [id] of batch) waiting.delete(id)
    for (const [, span] of batch) countSpan?.(span)
    return batch.map(([, span]) => span)
  }

  function flushSoon(): void {
    timer ??= setTimeout(() => {
      sending = sending.then(flush)
    }, flushMs).unref()
  }

  return {
    record(span) {
      const id = span.context?.spanId ?? String(count++)
      if (waiting.size >= maxWaiting && !waiting.has(id)) return
      waiting.set(id, span)
      flushSoon()
    },
    async close() {
      await sending
      await flush()
    },
  }
}

type ModelCall = {
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
