// Metrics of the proxies. All labels are fixed words: family, endpoint, type of provider, kind of token, outcome.
import type { Registry } from 'prom-client'
import Gauge from 'prom-client/lib/gauge.js'
import { type CounterSeries, createCounter, createHistogram, createMemo, type HistogramSeries } from './tallies.ts'

export type ProxyMeasure = {
  family: string
  provider: string
  endpoint: string
  mode: string
  outcome: string
  addedMs?: number
  firstByteMs?: number
  usage?: { inputTokens: number; outputTokens: number; cachedTokens: number; cacheWriteTokens?: number }
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const addedBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25]

/**
 * When providers of a type last answered and last failed; computed when requested, so that a request costs almost
 * nothing.
 */
function makeHealth(registry: Registry) {
  const ends = new Map<string, Record<string, number>>()
  new Gauge({
    name: 'svc_proxy_provider_last_end_timestamp_seconds',
    help: 'When a proxied request to providers of this type last ended with this outcome.',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
    collect() {
      for (const [provider, outcomes] of ends) {
        for (const [outcome, ms] of Object.entries(outcomes)) this.set({ provider, outcome }, ms / 1000)
      }
    },
  })
  return (provider: string, outcome: string) => {
    const known = ends.get(provider)
    if (known === undefined) ends.set(provider, { [outcome]: Date.now() })
    else known[outcome] = Date.now()
  }
}

function makeMeasures(registry: Registry) {
  return {
    requests: createCounter(registry, {
      name: 'svc_proxy_requests_total',
      help: 'Proxied requests that ended.',
    }),
    firstByte: createHistogram(registry, {
      name: 'svc_proxy_first_byte_seconds',
      help: 'From the arrival of a request to the first byte of its answer.',
      buckets: latencyBuckets,
    }),
    added: createHistogram(registry, {
      name: 'svc_proxy_added_seconds',
      help: "From the arrival of a request until it is sent: the service's own share of the waiting time.",
      buckets: addedBuckets,
    }),
    tokens: createCounter(registry, {
      name: 'svc_proxy_tokens_total',
      help: 'Tokens counted by vendors.',
    }),
  }
}

export function createProxyObserver(registry: Registry): (measure: ProxyMeasure) => void {
  const { requests, firstByte, added, tokens } = makeMeasures(registry)
  const noteEnd = makeHealth(registry)
  const requestSeries = createMemo<CounterSeries>()
  const firstByteSeries = createMemo<HistogramSeries>()
  const addedSeries = createMemo<HistogramSeries>()
  const tokenSeries = createMemo<CounterSeries>()

  function countTokens(provider: string, kind: string, count: number): void {
    tokenSeries(`${kind} ${provider}`, () => tokens.series({ provider, kind })).add(count)
  }

  return ({ family, provider, endpoint, mode, outcome, addedMs, firstByteMs, usage }) => {
    const all = `${family} ${provider} ${endpoint} ${mode} ${outcome}`
    requestSeries(all, () => requests.series({ family, provider, endpoint, mode, outcome })).add(1)
    noteEnd(provider, outcome)
    if (addedMs !== undefined) {
      addedSeries(endpoint, () => added.series({ family, endpoint })).observe(addedMs / 1000)
    }
    if (firstByteMs !== undefined) {
      firstByteSeries(endpoint, () => firstByte.series({ family, endpoint })).observe(firstByteMs / 1000)
    }
    if (usage === undefined) return
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
    countTokens(provider, 'input', inputTokens)
    countTokens(provider, 'output', outputTokens)
    if (cachedTokens > 0) countTokens(provider, 'cached', cachedTokens)
    if (cacheWriteTokens > 0) countTokens(provider, 'cache_write', cacheWriteTokens)
  }
}
