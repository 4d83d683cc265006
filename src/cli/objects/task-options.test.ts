import { describe, expect, it } from 'vitest'
import { readBudget, tryReadTokens } from './task-options.ts'

describe('--budget', () => {
  it.each([
    ['500', { maxTokens: 500 }],
    ['500k', { maxTokens: 500_000 }],
    ['5M', { maxTokens: 5_000_000 }],
    ['5m', { maxDuration: '5m' }],
    ['1h30m', { maxDuration: '1h30m' }],
    ['5USD', { maxCost: 5, currency: 'USD' }],
    ['0.5 EUR', { maxCost: 0.5, currency: 'EUR' }],
  ])('%s', (text, budget) => {
    expect(readBudget(text)).toEqual(budget)
  })

  it('may be repeated, for limits of several sorts', () => {
    expect(readBudget(['500k', '24h', '5USD', '1M'])).toEqual({
      maxTokens: 1_000_000,
      maxDuration: '24h',
      maxCost: 5,
      currency: 'USD',
    })
  })

  it.each(['five', '5 usd', '', '-1', '5d'])('refuses %j and says what it takes', (text) => {
    expect(() => readBudget(text)).toThrow(/tokens \(500k, 2M\), money \(5USD, 0.5EUR\) or time \(90m, 24h\)/)
  })
})

it('tokens are read as numbers with k, M or G', () => {
  expect(['7', '1.5k', '2G', 'x'].map(tryReadTokens)).toEqual([7, 1500, 2_000_000_000, undefined])
})
