import { describe, expect, it } from 'vitest'
import { mergePrices } from './provider.ts'

describe('prices from the command line', () => {
  it('go into the table by model, and replace what the model had', () => {
    const old = [
      { model: 'a', currency: 'EUR', inputPerMillion: 1 },
      { model: 'b', currency: 'USD', inputPerMillion: 2 },
    ]
    expect(mergePrices(old, ['b=3/15', 'vendor/x=1=0.25/1.5/0.1/0.3 EUR'])).toEqual([
      old[0],
      { model: 'b', inputPerMillion: 3, outputPerMillion: 15 },
      {
        model: 'vendor/x=1',
        currency: 'EUR',
        inputPerMillion: 0.25,
        outputPerMillion: 1.5,
        cachedInputPerMillion: 0.1,
        cacheWritePerMillion: 0.3,
      },
    ])
    expect(mergePrices(old, ['a='])).toEqual([old[1]])
    expect(mergePrices(old, ['a=', 'b='])).toBeUndefined()
  })

  it.each(['a', '=1/2', 'a=1', 'a=1/2/3/4/5', 'a=1//2', 'a=x/y', 'a=-1/2', 'a=1/2 euro', 'a=1e9/2'])(
    'are refused when they are invalid: %s',
    (text) => {
      expect(() => mergePrices([], [text])).toThrow(/MODEL=IN\/OUT/)
    },
  )
})
