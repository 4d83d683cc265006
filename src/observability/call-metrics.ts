// Metrics of model calls and of their usage. All labels are fixed words or names of Providers.
import type { Registry } from 'prom-client'
import Gauge from 'prom-client/lib/gauge.js'
import { type CounterSeries, createCounter, createHistogram, createMemo, type HistogramSeries } from './tallies.ts'

export type CountedUsage = {
  namespace: string
  provider: string
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  cacheWriteTokens?: number
  estimatedInputTokens?: number
  estimatedOutputTokens?: number
  cost?: number
  estimatedCost?: number
  currency?: string
}

/** Stands for Providers that do not exist (any more). */
export const otherProvider = { namespace: 'other', provider: 'other' }

/** An existing Provider; its series exist before anybody uses it. */
export type KnownProvider = { namespace: string; name: string; currency?: string }

/**
 * The most Providers; further ones share the name `other`, so that creating many does not flood a monitoring system.
 */
const maxProviders = 500

type UsageCounter = { count(usage: CountedUsage): void; show(provider: KnownProvider): void }

/** Exact counts from vendors, and estimates where they gave none. */
const kinds = ['input', 'output', 'cached', 'cache_write', 'estimated_input', 'estimated_output'] as const

export function createUsageCounter(registry: Registry): UsageCounter {
  const tokens = createCounter(registry, {
    name: 'svc_tokens_total',
    help: 'Tokens of model calls by Provider; those read from a cache (cached) and written to one (cache_write) are part of the input.',
  })
  const cost = createCounter(registry, {
    name: 'svc_cost_total',
    help: 'Money for model calls by Provider, by its price and in its currency; a Provider without a price has none.',
  })
  const tokenSeries = createMemo<CounterSeries>()
  const costSeries = createMemo<CounterSeries>()
  const known = new Set<string>()

  function labelsOf(namespace: string, provider: string) {
    const key = `${namespace}/${provider}`
    if (known.size < maxProviders) known.add(key)
    return known.has(key) ? { namespace, provider } : otherProvider
  }

  function addTokens(where: ReturnType<typeof labelsOf>, kind: (typeof kinds)[number], count = 0): void {
    tokenSeries(`${kind} ${where.namespace}/${where.provider}`, () => tokens.series({ ...where, kind })).add(count)
  }

  function addCost(
    where: ReturnType<typeof labelsOf>,
    currency: string,
    kind: 'exact' | 'estimated',
    amount = 0,
  ): void {
    const series = () => cost.series({ ...where, currency, kind })
    costSeries(`${kind} ${currency} ${where.namespace}/${where.provider}`, series).add(amount)
  }

  return {
    count(usage) {
      const where = labelsOf(usage.namespace, usage.provider)
      addTokens(where, 'input', usage.inputTokens)
      addTokens(where, 'output', usage.outputTokens)
      addTokens(where, 'cached', usage.cachedTokens)
      addTokens(where, 'cache_write', usage.cacheWriteTokens)
      addTokens(where, 'estimated_input', usage.estimatedInputTokens)
      addTokens(where, 'estimated_output', usage.estimatedOutputTokens)
      if (usage.currency === undefined) return
      addCost(where, usage.currency, 'exact', usage.cost)
      addCost(where, usage.currency, 'estimated', usage.estimatedCost)
    },
    show({ namespace, name, currency }) {
      const where = labelsOf(namespace, name)
      for (const kind of kinds) addTokens(where, kind)
      if (currency === undefined) return
      addCost(where, currency, 'exact')
      addCost(where, currency, 'estimated')
    },
  }
}

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
