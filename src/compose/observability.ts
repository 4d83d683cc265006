// What is observed of a service: recorded usage is counted, whoever records it, and spans are sent.

import type { Config } from '../config/load.ts'
import { version } from '../launch/program-files.ts'
import { type CountedUsage, type KnownProvider, type Metrics, otherProvider } from '../observability/metrics.ts'
import { createTraces, type Traces } from '../observability/traces.ts'
import type { Usage, UsageRecord } from '../ports/budgets/usage.ts'
import type { ResourceKey, ResourceReader } from '../ports/resources/resources.ts'

const sendTimeoutMs = 5000

/** Undefined without a collector: then nothing is recorded. */
export function openTraces({ otlpEndpoint }: Config): Traces | undefined {
  if (otlpEndpoint === undefined) return undefined
  // The path below the base address (OpenTelemetry specification: OTLP exporter, endpoint URLs for OTLP/HTTP).
  const url = `${otlpEndpoint.replace(/\/+$/, '')}/v1/traces`
  return createTraces({
    version,
    async send(body) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(sendTimeoutMs) })
      await answer.arrayBuffer()
    },
  })
}

/** A record names a provider of its own namespace by its name, any other by both. */
function keyOf({ namespace, provider }: UsageRecord): ResourceKey {
  const [first = '', second] = provider.split('/', 2)
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second }
}

export function countedUsage(usage: Usage, resources: ResourceReader, count: Metrics['countUsage']): Usage {
  const known = new Set<string>()

  /** A worker may report any name: only existing Providers get their own series. */
  async function labelsOf(record: UsageRecord): Promise<Pick<CountedUsage, 'namespace' | 'provider'>> {
    if (record.demo) return { namespace: '', provider: 'demo' }
    const key = keyOf(record)
    const text = `${key.namespace}/${key.name}`
    if (!known.has(text)) {
      if ((await resources.get('Provider', key)) === undefined) return otherProvider
      known.add(text)
    }
    return { namespace: key.namespace, provider: key.name }
  }

  async function countAll(records: readonly UsageRecord[]): Promise<void> {
    for (const record of records) count({ ...record, ...(await labelsOf(record)) })
  }

  return {
    ...usage,
    async record(records) {
      await usage.record(records)
      // Usage that cannot be counted is still recorded.
      await countAll(records).catch(() => {})
    },
  }
}

/** Further ones share one name in the metrics. */
const maxListed = 500

export async function listPriced(resources: ResourceReader): Promise<KnownProvider[]> {
  const { items } = await resources.list('Provider', { limit: maxListed })
  return items.map(({ metadata: { namespace, name }, spec: { price, prices = [] } }) => {
    const currency = (price ?? prices[0])?.currency
    return currency === undefined ? { namespace, name } : { namespace, name, currency }
  })
}
