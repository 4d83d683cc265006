import { describe, expect, it } from 'vitest'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import { costOf, measureOf, rangeOf, shareOf, sortRows, stackOf, totalOf } from './usage-words.ts'

const item = (key: string, more: Partial<UsageItem> = {}): UsageItem => ({
  key,
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 0,
  llmCalls: 1,
  ...more,
})
const now = Date.parse('2026-03-02T15:30:00Z')
const usd = (cost: number) => ({ cost, currency: 'USD' })

describe('the time that is looked at', () => {
  it.each([
    ['month', {}, '2026-03-01', '2026-03-03'],
    ['last-month', {}, '2026-02-01', '2026-03-01'],
    ['7d', {}, '2026-02-24', '2026-03-03'],
    ['custom', { from: '2026-01-05', to: '2026-01-05' }, '2026-01-05', '2026-01-06'],
  ])('%s begins and ends with a day', (name, custom, since, until) => {
    expect(rangeOf(name, custom, now)).toEqual({ since: `${since}T00:00:00.000Z`, until: `${until}T00:00:00.000Z` })
  })

  it.each([{}, { from: '2026-02-30', to: '2026-03-01' }, { from: '2026-03-02', to: '2026-03-01' }, { from: 'soon' }])(
    'is none for %j',
    (custom) => expect(rangeOf('custom', custom, now)).toBeUndefined(),
  )
})

describe('usage', () => {
  const range = { since: '2026-02-28T00:00:00.000Z', until: '2026-03-03T00:00:00.000Z' }

  it('per day has every day, the largest groups apart and the others together', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((key, at) => item(key, { at: '2026-03-01', ...usd(6 - at) }))
    const items = [...many, item('', { at: '2026-03-02', ...usd(10) })]
    const { starts, series } = stackOf(items, range, measureOf(items))
    expect(starts.map((start) => start.slice(0, 10))).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
    expect(series).toEqual([
      { name: 'none', values: [0, 0, 10] },
      { name: 'a', values: [0, 6, 0] },
      { name: 'b', values: [0, 5, 0] },
      { name: 'c', values: [0, 4, 0] },
      { name: 'all others', values: [0, 6, 0] },
    ])
  })

  it('compares money of the currency with the most, and tokens where nothing has a price', () => {
    const priced = [
      item('a', usd(3)),
      item('b', { cost: 1, currency: 'EUR' }),
      item('c', { estimatedCost: 1, ...usd(0) }),
    ]
    const measure = measureOf(priced)
    expect([measure.name, measure.currency]).toEqual(['cost', 'USD'])
    expect(priced.map((one) => shareOf(one, priced, measure))).toEqual(['75.0 %', '0.0 %', '25.0 %'])
    expect(shareOf(item('x', usd(0.0001)), [item('x', usd(0.0001)), item('y', usd(9))], measure)).toBe('< 0.1 %')
    const free = [item('a'), item('b', { inputTokens: 320 })]
    expect(free.map((one) => shareOf(one, free, measureOf(free)))).toEqual(['25.0 %', '75.0 %'])
    expect(sortRows(priced, 'cost', measure).map(({ key }) => key)).toEqual(['a', 'c', 'b'])
    expect(sortRows(priced, 'name', measure).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
    expect(totalOf(priced)).toEqual({ calls: 3, input: 300, output: 30, cost: '4 USD, 1 EUR' })
  })

  it('says what calls cost, and how many have no price', () => {
    expect(costOf(item('a'))).toBe('no price')
    expect(costOf(item('a', { cost: 1, estimatedCost: 0.5, currency: 'USD' }))).toBe('1.5 USD')
    expect(costOf(item('a', { ...usd(1), unpricedCalls: 2 }))).toBe('1 USD (2 calls without a price)')
    expect(costOf(item('a', { ...usd(1), unpricedCalls: 1 }))).toBe('1 USD (1 call without a price)')
  })
})
