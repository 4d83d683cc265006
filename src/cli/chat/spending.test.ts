import { describe, expect, it } from 'vitest'
import { describeSpending, sumItems } from './spending.ts'

const calls = { key: 'default/talk', inputTokens: 20, outputTokens: 10, cachedTokens: 0, llmCalls: 1 }

describe('the line about what was spent', () => {
  it('shows tokens with their cost in each currency', () => {
    const sum = sumItems([
      { ...calls, cost: 0.01, estimatedOutputTokens: 5, estimatedCost: 0.002, currency: 'USD' },
      { ...calls, cost: 2, currency: 'EUR' },
    ])
    expect(describeSpending(sum)).toBe('65 tokens (40 in, 25 out), 0.012 USD, 2 EUR')
  })

  it('says how many calls have no price, and never shows them as 0', () => {
    expect(describeSpending(sumItems([{ ...calls, unpricedCalls: 1 }]))).toBe(
      '30 tokens (20 in, 10 out), 1 call without a price',
    )
    expect(describeSpending(sumItems([{ ...calls, cost: 1, currency: 'USD', unpricedCalls: 2 }]))).toBe(
      '30 tokens (20 in, 10 out), 1 USD, 2 calls without a price',
    )
  })

  it('shows 0 where the price is 0', () => {
    expect(describeSpending(sumItems([{ ...calls, cost: 0, currency: 'USD' }]))).toContain(', 0 USD')
  })
})
