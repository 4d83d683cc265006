import { describe, expect, it } from 'vitest'
import { describeSpending, sumItems } from './spending.ts'

const calls = { key: 'default/talk', inputTokens: 20, outputTokens: 10, cachedTokens: 0, llmCalls: 1 }

describe('what was spent', () => {
  it('tells tokens with their cost in each currency', () => {
    const sum = sumItems([
      { ...calls, cost: 0.01, estimatedOutputTokens: 5, estimatedCost: 0.002, currency: 'USD' },
      { ...calls, cost: 2, currency: 'EUR' },
    ])
    expect(describeSpending(sum)).toBe('65 tokens (40 in, 25 out), 0.012 USD, 2 EUR')
  })

  it('tells calls without a price as such, and never as 0', () => {
    expect(describeSpending(sumItems([{ ...calls, unpricedCalls: 1 }]))).toBe(
      '30 tokens (20 in, 10 out), 1 call without a price',
    )
    expect(describeSpending(sumItems([{ ...calls, cost: 1, currency: 'USD', unpricedCalls: 2 }]))).toBe(
      '30 tokens (20 in, 10 out), 1 USD, 2 calls without a price',
    )
  })

  it('is 0 where the price is', () => {
    expect(describeSpending(sumItems([{ ...calls, cost: 0, currency: 'USD' }]))).toContain(', 0 USD')
  })
})
