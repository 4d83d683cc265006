import { describe, expect, it } from 'vitest'
import { Price } from '../../contract/kinds/providers/provider.ts'
import { computeCost, readNestedCount, readTokenCount } from './token-usage.ts'

it.each([0, 7, 1e12])('%d is a count', (value) => {
  expect(readTokenCount(value)).toBe(value)
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e13, '7', null, undefined, {}, [7]])('%j is none', (value) => {
  expect(readTokenCount(value)).toBeUndefined()
})

it.each([
  [{ cached: 3 }, 3],
  [{ cached: -3 }, undefined],
  [null, undefined],
  ['x', undefined],
  [undefined, undefined],
])('in %j there is %j', (value, count) => {
  expect(readNestedCount(value, 'cached')).toBe(count)
})

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 400_000 }

describe('the cost of a call', () => {
  it('counts cached input at its own rate, the rest of the input and the output at theirs [USAGE-001]', () => {
    const price = { currency: 'EUR', inputPerMillion: 10, outputPerMillion: 20, cachedInputPerMillion: 1 }
    expect(computeCost(usage, price)).toEqual({ cost: 6 + 0.4 + 2, currency: 'EUR' })
  })

  it('counts input that is written to a cache at its own rate, or as input [USAGE-001]', () => {
    const written = { ...usage, cacheWriteTokens: 200_000 }
    const price = { currency: 'USD', inputPerMillion: 10, cachedInputPerMillion: 1, cacheWritePerMillion: 12.5 }
    expect(computeCost(written, price)).toEqual({ cost: 4 + 0.4 + 2.5, currency: 'USD' })
    const { cacheWritePerMillion: _written, ...plain } = price
    expect(computeCost(written, plain)).toEqual({ cost: 6.4, currency: 'USD' })
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
