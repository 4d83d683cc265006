import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseQuantity, Quantity, tryParseQuantity } from './quantity.ts'

describe('quantities', () => {
  it.each([
    ['512Mi', 536_870_912],
    ['100m', 0.1],
    ['2Gi', 2_147_483_648],
    ['1', 1],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1k', 1000],
    ['12e6', 12_000_000],
    ['1E3', 1000],
    ['2E', 2e18],
    [4, 4],
  ])('reads %s as %d', (text, value) => {
    expect(parseQuantity(text)).toBeCloseTo(value, 9)
  })

  it.each(['', 'Mi', '1 Gi', '1mi', '-1', '1KB', 'NaN', '1e9999', '0x10'])('refuses %j', (text) => {
    expect(tryParseQuantity(text)).toBeUndefined()
    expect(() => parseQuantity(text)).toThrow('is not a quantity')
    expect(Quantity.safeParse(text).success).toBe(false)
  })

  it('keeps the order of what it reads', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (a, b) => {
        expect(Math.sign(parseQuantity(`${a}Ki`) - parseQuantity(`${b}Ki`))).toBe(Math.sign(a - b))
      }),
    )
  })

  it('refuses numbers that are none', () => {
    expect(tryParseQuantity(-1)).toBeUndefined()
    expect(tryParseQuantity(Number.POSITIVE_INFINITY)).toBeUndefined()
  })
})
