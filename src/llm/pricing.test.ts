import { describe, expect, it } from 'vitest'
import { Price } from '../contract/resources/provider.ts'
import { computeCost } from './pricing.ts'

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 400_000 }

describe('the cost of a call', () => {
  it('counts cached input at its own rate, the rest of the input and the output at theirs [USAGE-001]', () => {
    const price = { currency: 'EUR', inputPerMillion: 10, outputPerMillion: 20, cachedInputPerMillion: 1 }
    expect(computeCost(usage, price)).toEqual({ cost: 6 + 0.4 + 2, currency: 'EUR' })
  })

  it('counts cached input as input where it has no rate of its own', () => {
    expect(computeCost(usage, { currency: 'USD', inputPerMillion: 10 })).toEqual({ cost: 10, currency: 'USD' })
  })

  it('counts what has no rate as free beside what has one', () => {
    expect(computeCost(usage, { currency: 'USD', outputPerMillion: 20 })).toEqual({ cost: 2, currency: 'USD' })
    expect(computeCost(usage, { currency: 'USD', outputPerMillion: 0 })).toEqual({ cost: 0, currency: 'USD' })
  })

  it('never pays back where a vendor counts more cached tokens than input', () => {
    const price = { currency: 'USD', inputPerMillion: 10, cachedInputPerMillion: 1 }
    expect(computeCost({ inputTokens: 0, outputTokens: 0, cachedTokens: 1_000_000 }, price)?.cost).toBe(1)
  })

  it('is unknown without a price, and a currency alone is none', () => {
    expect(computeCost(usage, undefined)).toBeUndefined()
    expect(computeCost(usage, Price.parse({}))).toBeUndefined()
    expect(computeCost(usage, Price.parse({ currency: 'EUR' }))).toBeUndefined()
  })
})
