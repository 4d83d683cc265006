import { describe, expect, it } from 'vitest'
import type { ModelPrice } from '../../contract/kinds/providers/provider.ts'
import {
  choosePrice,
  coversSubject,
  endOfPeriod,
  explainUsedUp,
  findPrice,
  isUsedUp,
  type Limit,
  startOfPeriod,
} from './budget.ts'

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

  it.each([
    'claude-sonnet-4-5',
    'anthropic/claude-sonnet-4-5',
    'Claude-Sonnet-4-5-20250929',
    'claude-sonnet-4-5@latest',
  ])('%s is what its vendor has published, with page and day, where the owner has set none', (model) => {
    for (const spec of [{}, { prices: [priceOf('other', 1)] }, { price: { currency: 'EUR' } }]) {
      expect(choosePrice(spec, model)).toEqual({
        model: 'claude-sonnet-4-5',
        price: {
          currency: 'USD',
          inputPerMillion: 3,
          outputPerMillion: 15,
          cachedInputPerMillion: 0.3,
          cacheWritePerMillion: 3.75,
        },
        listed: expect.objectContaining({
          vendor: 'Anthropic',
          asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          source: expect.stringMatching(/^https:/),
        }),
      })
    }
  })

  it('is the owner’s before the published one, also where it is 0', () => {
    const free = { currency: 'USD', inputPerMillion: 0 }
    expect(choosePrice({ price: free }, 'gpt-4o')).toEqual({ model: '*', price: free })
    expect(choosePrice({ prices: [priceOf('gpt-*', 1)] }, 'gpt-4o')).toEqual({
      model: 'gpt-*',
      price: { currency: 'USD', inputPerMillion: 1 },
    })
    expect(choosePrice({}, 'gpt-4o-of-our-own')).toBeUndefined()
  })
})

const now = new Date('2026-12-31T23:30:00.000Z')
const caller = { kind: 'token', id: 'tok-1', name: 'me' } as const
const spender = { namespace: 'team', agent: 'poet', caller, task: { uid: 'u1', name: 't' } }
const limit: Limit = { name: 'b', scope: {}, period: 'month', maxTokens: 10, currency: 'USD' }

describe('a budget', () => {
  it.each([
    [{}, true],
    [{ namespace: 'team' }, true],
    [{ namespace: 'other' }, false],
    [{ namespace: 'team', agent: 'poet' }, true],
    [{ namespace: 'team', agent: 'other' }, false],
    [{ token: 'tok-1' }, true],
    [{ token: 'me' }, false],
    [{ caller: 'tok-1' }, true],
    [{ caller: 'tok-2' }, false],
    [{ namespace: 'other', token: 'tok-1' }, false],
    [{ taskUid: 'u1' }, true],
    [{ taskUid: 'u2' }, false],
  ])('for %j covers: %s', (scope, covered) => {
    expect(coversSubject(scope, spender)).toBe(covered)
  })

  it('for a token does not cover a caller of another kind with the same id', () => {
    expect(coversSubject({ token: 'tok-1' }, { ...spender, caller: { ...caller, kind: 'tokenReview' } })).toBe(false)
    expect(coversSubject({ token: 'tok-1' }, { namespace: 'team' })).toBe(false)
  })

  it('covers its day or month in UTC, or all time', () => {
    expect(startOfPeriod('day', now)?.toISOString()).toBe('2026-12-31T00:00:00.000Z')
    expect(startOfPeriod('month', now)?.toISOString()).toBe('2026-12-01T00:00:00.000Z')
    expect(startOfPeriod('total', now)).toBeUndefined()
    expect(endOfPeriod('day', now)?.toISOString()).toBe('2027-01-01T00:00:00.000Z')
    expect(endOfPeriod('month', now)?.toISOString()).toBe('2027-01-01T00:00:00.000Z')
    expect(endOfPeriod('total', now)).toBeUndefined()
  })

  it('is used up by tokens or by money, whichever comes first', () => {
    expect(isUsedUp(limit, { tokens: 9, cost: 99 })).toBe(false)
    expect(isUsedUp(limit, { tokens: 10, cost: 0 })).toBe(true)
    const both = { ...limit, maxCost: 2 }
    expect(isUsedUp(both, { tokens: 1, cost: 2 })).toBe(true)
    expect(isUsedUp({ ...limit, maxTokens: undefined, maxCost: 0 }, { tokens: 0, cost: 0 })).toBe(true)
  })

  it('has a message that names its limit, its scope and when it is reset', () => {
    expect(explainUsedUp({ ...limit, scope: { namespace: 'team', agent: 'poet' } }, { tokens: 10, cost: 0 }, now)).toBe(
      'the budget "b" of 10 tokens a month for agent "poet" in namespace "team" is used up; it resets at 2027-01-01T00:00:00.000Z',
    )
    expect(explainUsedUp({ ...limit, period: 'total', maxCost: 2 }, { tokens: 1, cost: 3 }, now)).toBe(
      'the budget "b" of 2 USD for the whole service is used up',
    )
  })
})
