import { describe, expect, it } from 'vitest'
import { formatMoney } from './money.ts'

describe('formatMoney', () => {
  it.each([
    [0, '0 USD'],
    [1.5, '1.5 USD'],
    [0.01234567, '0.0123 USD'],
    [0.00004567, '0.000046 USD'],
    [0.00001, '0.00001 USD'],
    [1e-9, '0.000000001 USD'],
  ])('%d is %s', (amount, text) => {
    expect(formatMoney(amount, 'USD')).toBe(text)
  })

  it('omits an unknown currency', () => {
    expect(formatMoney(2)).toBe('2')
  })
})
