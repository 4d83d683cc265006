// Vendors' token counts, and the cost of a call by the price that its provider's owner has set. No price is built in.

import type { Price } from '../../contract/kinds/providers/provider.ts'
import type { JsonObject } from '../../contract/schema/json.ts'
import type { TokenUsage } from './messages.ts'

/** No call uses this many; a billion of these can still be added. */
export const mostTokens = 1e12

export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostTokens ? value : undefined
}

/** A field of an object, which may be absent. */
export function readNestedCount(value: unknown, field: string): number | undefined {
  return typeof value === 'object' && value !== null ? readCount((value as JsonObject)[field]) : undefined
}

export type Cost = { cost: number; currency: string }

/** No call costs this much; a price from before there was a maximum must not spoil sums. */
const mostCost = 1e9

/**
 * Input tokens include those read from a cache and written to one. Undefined when no price is set: a currency alone is
 * none, and nothing is free unasked.
 */
export function computeCost(usage: TokenUsage, price: Price | undefined): Cost | undefined {
  if (price === undefined) return undefined
  const { currency, inputPerMillion: input = 0, outputPerMillion: output = 0 } = price
  const { cachedInputPerMillion: cached = input, cacheWritePerMillion: written = input } = price
  if (Object.keys(price).every((key) => key === 'currency' || price[key as keyof Price] === undefined)) return undefined
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
  const fresh = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens)
  const total = fresh * input + cachedTokens * cached + cacheWriteTokens * written + outputTokens * output
  return { cost: Math.min(total / 1_000_000, mostCost), currency }
}
