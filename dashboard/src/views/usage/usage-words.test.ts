import { describe, expect, it } from 'vitest'
import type { UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import { costOf, daysOf, sinceOf } from './usage-words.ts'

const item = (key: string, more: Partial<UsageItem> = {}): UsageItem => ({
  key,
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: 0,
  llmCalls: 1,
  ...more,
})
const now = Date.parse('2026-03-02T15:30:00Z')

describe('usage by day', () => {
  it('has every day, and sums the currencies of one', () => {
    expect(sinceOf(3, now)).toBe('2026-02-28T00:00:00.000Z')
    const days = daysOf([item('2026-03-02'), item('2026-02-28'), item('2026-02-28', { currency: 'EUR' })], 3, now)
    expect(days.map(({ start, input, output }) => [start.slice(0, 10), input, output])).toEqual([
      ['2026-02-28', 200, 20],
      ['2026-03-01', 0, 0],
      ['2026-03-02', 100, 10],
    ])
  })

  it('says what calls cost, and how many have no price', () => {
    expect(costOf(item('a'))).toBe('no price')
    expect(costOf(item('a', { cost: 1, estimatedCost: 0.5, currency: 'USD' }))).toBe('1.5 USD')
    expect(costOf(item('a', { cost: 1, currency: 'USD', unpricedCalls: 2 }))).toBe('1 USD (2 calls without a price)')
  })
})
