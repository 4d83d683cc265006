import { expect, it } from 'vitest'
import type { UsageItem } from '../contract/api/budgets/usage.ts'
import { formatTotalCost, shareOfUsage, sumUsageItems } from './usage-totals.ts'

const item = (key: string, more: Partial<UsageItem> = {}): UsageItem => ({
  key,
  inputTokens: 30,
  outputTokens: 10,
  cachedTokens: 5,
  llmCalls: 2,
  ...more,
})

it('is summed by currency, estimates included, and shared within each', () => {
  const items = [
    item('a', { cost: 3, currency: 'USD' }),
    item('b', { cost: 0, estimatedCost: 1, currency: 'USD' }),
    item('c', { cost: 2, currency: 'EUR' }),
    item('d'),
  ]
  const total = sumUsageItems(items)
  expect(total).toMatchObject({ llmCalls: 8, inputTokens: 120, outputTokens: 40, cachedTokens: 20 })
  expect(formatTotalCost(total)).toBe('4 USD, 2 EUR')
  expect(items.map((each) => shareOfUsage(each, total))).toEqual([0.75, 0.25, 1, undefined])
})

it('is shared by tokens where nothing has a price, and not at all where there are none', () => {
  const items = [item('a'), item('b', { inputTokens: 110 })]
  expect(items.map((each) => shareOfUsage(each, sumUsageItems(items)))).toEqual([0.25, 0.75])
  const none = item('a', { inputTokens: 0, outputTokens: 0 })
  expect(shareOfUsage(none, sumUsageItems([none]))).toBeUndefined()
})
