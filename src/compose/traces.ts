// Where spans are sent: to the collector that the owner configured, and nowhere else.
import type { Config } from '../config/load.ts'
import { version } from '../launch/program-files.ts'
import { trimTrailing } from '../lib/trim.ts'
import { createTraces, type Traces } from '../observability/traces.ts'

const sendTimeoutMs = 5000

/** Undefined without a collector: then nothing is recorded. */
export function openTraces({ otlpEndpoint }: Config): Traces | undefined {
  if (otlpEndpoint === undefined) return undefined
  // The path below the base address (OpenTelemetry specification: OTLP exporter, endpoint URLs for OTLP/HTTP).
  const url = `${trimTrailing(otlpEndpoint, '/')}/v1/traces`
  return createTraces({
    version,
    async send(body) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(sendTimeoutMs) })
      await answer.arrayBuffer()
    },
  })
}
