// The published prices that come with the program: what can be seen to be wrong in them without their pages.
import { describe, expect, it } from 'vitest'
import { findListedPrice, priceCatalogue } from '../../src/rules/budgets/price-catalogue.ts'

/** Makers of vectors answer with no tokens. */
const hasOutput = (model: string) => !model.startsWith('text-embedding-')

const entries = priceCatalogue.map((listed) => [listed.model, listed] as const)

it('has each model once, under a name that finds it', () => {
  expect(new Set(priceCatalogue.map(({ model }) => model)).size).toBe(priceCatalogue.length)
  for (const [model, listed] of entries) expect([model, findListedPrice(model)]).toEqual([model, listed])
})

describe.each(entries)('%s', (model, { price, source, asOf }) => {
  const {
    inputPerMillion: input = 0,
    outputPerMillion: output = 0,
    cachedInputPerMillion,
    cacheWritePerMillion,
  } = price

  it('costs something, and more to write than to read', () => {
    expect(input).toBeGreaterThan(0)
    if (hasOutput(model)) expect(output).toBeGreaterThan(input)
    else expect(output).toBe(0)
    // A price for a single token, or for a thousand, would be far outside.
    expect(input).toBeGreaterThanOrEqual(0.01)
    expect(output).toBeLessThanOrEqual(1000)
  })

  it('costs less from a cache than without one, and not less into it', () => {
    if (cachedInputPerMillion !== undefined) {
      expect(cachedInputPerMillion).toBeGreaterThan(0)
      expect(cachedInputPerMillion).toBeLessThan(input)
    }
    if (cacheWritePerMillion !== undefined) {
      expect(cacheWritePerMillion).toBeGreaterThan(input)
      expect(cacheWritePerMillion).toBeLessThanOrEqual(2 * input)
    }
  })

  it('names the page and the day of its price', () => {
    expect(new URL(source).protocol).toBe('https:')
    expect(new Date(asOf).toISOString().slice(0, 10)).toBe(asOf)
    expect(Date.parse(asOf)).toBeLessThanOrEqual(Date.now())
  })
})
