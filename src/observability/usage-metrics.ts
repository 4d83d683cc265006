// Tokens and money by Provider. Its namespace and name are the only labels that users choose: those who may create
// Providers, never those who call them.
import type { Registry } from 'prom-client'
import { type CounterSeries, createCounter, createMemo } from './tallies.ts'

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
const mostProviders = 500

export type UsageCounter = { count(usage: CountedUsage): void; show(provider: KnownProvider): void }

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
    if (known.size < mostProviders) known.add(key)
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
