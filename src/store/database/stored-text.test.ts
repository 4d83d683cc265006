import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor, decodeText, encodeCursor, encodeLine, encodeText } from './stored-text.ts'

const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) })
const nastyText = fc.string({ unit: fc.constantFrom('\0', '\\', 'n', '0', 'u', '\n', '\uD83D', '\uDE00', 'D', 'é') })

describe('stored text', () => {
  it('brings back every string, whatever its code units are', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nastyText), (text) => {
        expect(decodeText(encodeText(text))).toBe(text)
        expect(decodeText(encodeLine(text))).toBe(text)
      }),
    )
  })

  it('stores nothing that PostgreSQL or UTF-8 would refuse', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nastyText), (text) => {
        const stored = encodeText(text)
        expect(stored).not.toContain('\0')
        expect(stored.isWellFormed()).toBe(true)
        expect(encodeLine(text)).not.toContain('\n')
      }),
    )
  })

  it('gives different texts different forms', () => {
    fc.assert(
      fc.property(nastyText, nastyText, (one, other) => {
        expect(encodeText(one) === encodeText(other)).toBe(one === other)
      }),
    )
  })

  it('leaves ordinary text as it is', () => {
    expect(encodeText('Grüße, 世界 😀\n')).toBe('Grüße, 世界 😀\n')
  })

  it('refuses a cursor that it did not make', () => {
    expect(decodeCursor(encodeCursor(['a', 'b']), 2)).toEqual(['a', 'b'])
    for (const bad of ['', 'x', '%%%', encodeCursor(['a']), Buffer.from('[1,2]').toString('base64url')]) {
      expect(() => decodeCursor(bad, 2)).toThrow('continue is not a token of this list')
    }
  })
})
