import { describe, expect, it } from 'vitest'
import type { ModelPrice } from '../../contract/kinds/providers/provider.ts'
import { findPrice } from './model-price.ts'

const priceOf = (model: string, inputPerMillion: number): ModelPrice => ({ model, inputPerMillion, currency: 'USD' })
const price = { currency: 'EUR', inputPerMillion: 9 }

describe('the price of a model', () => {
  it.each([
    ['large-2', 2],
    ['large-3', 3],
    ['large', undefined],
    ['small-1', 1],
    ['xsmall-1', undefined],
    ['tiny', 7],
  ])('%s is the most specific that matches, in any order', (model, wanted) => {
    const prices = [
      priceOf('large-*', 3),
      priceOf('large-2', 2),
      priceOf('small-?', 1),
      priceOf('t*', 6),
      priceOf('t*y', 7),
    ]
    expect(findPrice({ prices }, model)?.inputPerMillion).toBe(wanted)
    expect(findPrice({ prices: prices.toReversed() }, model)?.inputPerMillion).toBe(wanted)
  })

  it('is the general price where none matches, and undefined where there is no price', () => {
    expect(findPrice({ price, prices: [priceOf('a', 1)] }, 'b')).toEqual(price)
    expect(findPrice({ price, prices: [priceOf('a', 1)] }, 'a')).toEqual({ currency: 'USD', inputPerMillion: 1 })
    expect(findPrice({ prices: [priceOf('a', 1)] }, 'b')).toBeUndefined()
    expect(findPrice({}, 'b')).toBeUndefined()
  })
})
