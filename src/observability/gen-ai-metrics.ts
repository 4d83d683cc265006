// Histograms of model calls for an OpenTelemetry collector: tokens and duration, by the semantic conventions for generative AI.
import { encodeAttributes, encodeSource, encodeTime, type Span, type TelemetrySource } from './traces.ts'

type GenAiMetrics = {
  count(span: Span): void
  /** Sends what has changed since. */
  close(): Promise<void>
}

type Definition = { name: string; unit: string; bounds: readonly number[] }

/** The bounds that the conventions name. */
const powersOf = (base: number, first: number) => Array.from({ length: 14 }, (_, index) => first * base ** index)
const tokenUsage: Definition = { name: 'gen_ai.client.token.usage', unit: '{token}', bounds: powersOf(4, 1) }
const duration: Definition = { name: 'gen_ai.client.operation.duration', unit: 's', bounds: powersOf(2, 0.01) }

const shared = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model']
const operations: readonly unknown[] = ['chat', 'embeddings']
const flushMs = 10_000
/** Of a metric; models beyond are not counted. */
const maxSeries = 1000
const cumulative = 2

type Series = { attributes: Span['attributes']; counts: number[]; sum: number }
type Sample = { value: number; attributes: Span['attributes'] }

function createHistogram({ name, unit, bounds }: Definition) {
  const all = new Map<string, Series>()
  return {
    add({ value, attributes }: Sample): void {
      const key = JSON.stringify(attributes)
      const series = all.get(key) ?? { attributes, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
      if (!all.has(key) && all.size >= maxSeries) return
      all.set(key, series)
      const index = bounds.findIndex((bound) => value <= bound)
      const bucket = index === -1 ? bounds.length : index
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += value
    },
    encode(startMs: number, nowMs: number): object {
      const dataPoints = [...all.values()].map(({ attributes, counts, sum }) => ({
        attributes: encodeAttributes(attributes),
        startTimeUnixNano: encodeTime(startMs),
        timeUnixNano: encodeTime(nowMs),
        count: String(counts.reduce((total, count) => total + count, 0)),
        sum,
        bucketCounts: counts.map(String),
        explicitBounds: bounds,
      }))
      return { name, unit, histogram: { aggregationTemporality: cumulative, dataPoints } }
    },
  }
}

function pick({ attributes }: Span): Span['attributes'] {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => shared.includes(key)))
}

type Options = { source: TelemetrySource; now: () => number; send(body: string): Promise<void> }

export function createGenAiMetrics({ source, now, send }: Options): GenAiMetrics {
  const startMs = now()
  const tokens = createHistogram(tokenUsage)
  const durations = createHistogram(duration)
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    timer = undefined
    const { resource, scope } = encodeSource(source)
    const metrics = [tokens, durations].map((histogram) => histogram.encode(startMs, now()))
    const scopeMetrics = [{ scope, metrics }]
    await send(JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] })).catch(() => {})
  }

  return {
    count(span) {
      if (!operations.includes(span.attributes['gen_ai.operation.name'])) return
      const attributes = pick(span)
      for (const type of ['input', 'output']) {
        const value = span.attributes[`gen_ai.usage.${type}_tokens`]
        if (typeof value === 'number') tokens.add({ value, attributes: { ...attributes, 'gen_ai.token.type': type } })
      }
      const error: Span['attributes'] = span.error === undefined ? {} : { 'error.type': span.error }
      durations.add({ value: (span.endMs - span.startMs) / 1000, attributes: { ...attributes, ...error } })
      timer ??= setTimeout(() => void flush(), flushMs).unref()
    },
    async close() {
      if (timer === undefined) return
      clearTimeout(timer)
      await flush()
    },
  }
}
