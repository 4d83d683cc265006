// Where spans are sent: to the collector that the owner configured, and nowhere else.
import { randomUUID } from 'node:crypto'
import type { Config } from '../config/load.ts'
import { messageOf, SvcError } from '../errors.ts'
import { version } from '../launch/program-files.ts'
import { tryParseJson } from '../lib/json.ts'
import { trimTrailing } from '../lib/trim.ts'
import { createGenAiMetrics } from '../observability/gen-ai-metrics.ts'
import type { Logger } from '../observability/log.ts'
import { createTraces, type Traces } from '../observability/traces.ts'
import { makeStepSpan } from '../rules/tasks/step-spans.ts'
import type { UsecaseSettings } from '../usecases/index.ts'

const sendTimeoutMs = 5000
/** Of what a collector says, in characters. */
const maxReason = 300

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

/** Why the collector did not take all of a request, if so (OpenTelemetry specification: OTLP/HTTP response). */
async function readRefusal(answer: Response): Promise<string | undefined> {
  const text = await answer.text()
  if (!answer.ok) return `it answered ${answer.status}: ${text.slice(0, maxReason)}`
  const { partialSuccess } = (tryParseJson(text) ?? {}) as { partialSuccess?: { errorMessage?: string } }
  return partialSuccess?.errorMessage?.slice(0, maxReason) || undefined
}

/** `fetch` itself says only that it failed. */
function describeFailure(error: unknown): string {
  return messageOf(error instanceof Error ? (error.cause ?? error) : error)
}

/** Says it once when the collector begins to refuse, and once when it takes everything again. */
function createRefusals(log: Pick<Logger, 'info' | 'warn'>, path: string) {
  let last: string | undefined
  return (reason: string | undefined): void => {
    if (reason === last) return
    if (reason === undefined) log.info({ path }, 'the collector takes what is sent again')
    else log.warn({ path, reason }, 'the collector does not take what is sent, which is lost')
    last = reason
  }
}

/** Undefined without a collector: then nothing is recorded. */
export function openTraces(
  { otlpEndpoint, otlpHeaders }: Pick<Config, 'otlpEndpoint' | 'otlpHeaders'>,
  log: Pick<Logger, 'info' | 'warn'>,
): Traces | undefined {
  if (otlpEndpoint === undefined) return undefined
  const headers = { ...readOtlpHeaders(otlpHeaders), 'content-type': 'application/json' }
  // The paths below the base address (OpenTelemetry specification: OTLP exporter, endpoint URLs for OTLP/HTTP).
  const sendTo = (path: string) => {
    const url = `${trimTrailing(otlpEndpoint, '/')}${path}`
    const noteRefusal = createRefusals(log, path)
    return async (body: string) => {
      const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(sendTimeoutMs) }
      await fetch(url, request).then(readRefusal).catch(describeFailure).then(noteRefusal)
    }
  }
  const source = { version, instance: randomUUID() }
  const metrics = createGenAiMetrics({ source, now: Date.now, send: sendTo('/v1/metrics') })
  const traces = createTraces({ source, send: sendTo('/v1/traces'), count: metrics.count })
  return {
    record: traces.record,
    async close() {
      await traces.close()
      await metrics.close()
    },
  }
}
