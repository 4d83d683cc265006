// Where spans are sent: to the collector that the owner configured, and nowhere else.
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { version } from '../launch/program-files.ts'
import { trimTrailing } from '../lib/trim.ts'
import { createGenAiMetrics } from '../observability/gen-ai-metrics.ts'
import { createTraces, type Traces } from '../observability/traces.ts'
import { makeStepSpan } from '../rules/tasks/step-spans.ts'
import type { UsecaseSettings } from '../usecases/index.ts'

const sendTimeoutMs = 5000

/** `a=b,c=d`, values percent-encoded (OpenTelemetry specification: OTLP exporter, headers). InvalidRequest. */
function readOtlpHeaders(text = ''): Record<string, string> {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=')
      try {
        const header: [string, string] = [entry.slice(0, at).trim(), decodeURIComponent(entry.slice(at + 1).trim())]
        if (at > 0) new Headers([header])
        else throw new Error('no name')
        return header
      } catch (cause) {
        const message =
          'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs with commas between them, such as api-key=abc'
        throw new SvcError('InvalidRequest', message, { cause })
      }
    }),
  )
}

/** Spans of steps. */
export function traceSteps(
  traces: Traces | undefined,
  { otlpContents: contents }: Pick<Config, 'otlpContents'>,
): Pick<UsecaseSettings, 'onSteps'> {
  if (traces === undefined) return {}
  return {
    onSteps(subject, attempt, steps) {
      const spans = steps.map((step) => makeStepSpan(subject, step, { attempt, contents }))
      for (const span of spans) if (span !== undefined) traces.record(span)
    },
  }
}

/** Undefined without a collector: then nothing is recorded. */
export function openTraces({
  otlpEndpoint,
  otlpHeaders,
}: Pick<Config, 'otlpEndpoint' | 'otlpHeaders'>): Traces | undefined {
  if (otlpEndpoint === undefined) return undefined
  const headers = { ...readOtlpHeaders(otlpHeaders), 'content-type': 'application/json' }
  // The paths below the base address (OpenTelemetry specification: OTLP exporter, endpoint URLs for OTLP/HTTP).
  const sendTo = (path: string) => async (body: string) => {
    const url = `${trimTrailing(otlpEndpoint, '/')}${path}`
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(sendTimeoutMs) })
    await answer.arrayBuffer()
  }
  const metrics = createGenAiMetrics({ version, now: Date.now, send: sendTo('/v1/metrics') })
  const traces = createTraces({ version, send: sendTo('/v1/traces'), count: metrics.count })
  return {
    record: traces.record,
    async close() {
      await traces.close()
      await metrics.close()
    },
  }
}
