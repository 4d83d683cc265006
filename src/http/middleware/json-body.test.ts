import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSvcError } from '../../errors.ts'
import { locateJsonFault, maxJsonDepth, readJsonBody } from './json-body.ts'

const parseText = (text: string) => readJsonBody(Buffer.from(text)).value

function messageFor(text: string | Uint8Array): string {
  try {
    readJsonBody(typeof text === 'string' ? Buffer.from(text) : text)
  } catch (error) {
    if (isSvcError(error, 'InvalidRequest')) return error.message
    throw error
  }
  return 'accepted'
}

describe('a JSON body', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        fc.pre(!text.includes('__proto__'))
        expect(parseText(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    ['{"a": xyz}', 'unexpected character at line 1, column 7'],
    ['{"a":1,}', 'line 1, column 8'],
    ['{"a":1\n "b":2}', 'line 2, column 2'],
    ['[1,2', 'ends too early at line 1, column 5'],
    ["{'a':1}", 'line 1, column 2'],
    ['[1}', 'line 1, column 3'],
    ['{"a":1}x', 'line 1, column 8'],
    ['[01]', 'line 1, column 3'],
  ])('that is malformed is refused with the position of the fault: %s', (text, expected) => {
    expect(messageFor(text)).toContain(expected)
  })

  it('is reported malformed exactly when JSON.parse refuses it', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', '}', 'x', ',', '"', '\u0001'), (text, at, insert) => {
        const broken = text.slice(0, at % text.length) + insert + text.slice((at % text.length) + 1)
        let isValid = true
        try {
          JSON.parse(broken)
        } catch {
          isValid = false
        }
        if (isValid || broken === '') expect(locateJsonFault(broken)).toBe(broken.length)
        else expect(() => parseText(broken)).toThrow(/not valid JSON/)
      }),
    )
  })

  it('that is nested too deep is refused before it is parsed', () => {
    expect(messageFor('['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth))).toBe('accepted')
    expect(messageFor('['.repeat(maxJsonDepth + 1) + ']'.repeat(maxJsonDepth + 1))).toContain('nested')
    expect(messageFor('['.repeat(5_000_000))).toContain('nested')
    expect(messageFor(JSON.stringify({ text: '[{'.repeat(1000) }))).toBe('accepted')
  })

  it('with a prototype key is refused, however the key is escaped', () => {
    expect(messageFor('{"a":{"__proto__":{"x":1}}}')).toContain('__proto__')
    expect(messageFor('{"\\u005f_proto_\\u005F":{}}')).toContain('__proto__')
    expect(messageFor('{"text":"__proto__ is a word"}')).toBe('accepted')
  })

  it('that is not UTF-8 is refused', () => {
    expect(messageFor(new Uint8Array([0x22, 0xff, 0xfe, 0x22]))).toContain('UTF-8')
  })

  it('that is empty is undefined, not null', () => {
    expect(parseText('')).toBeUndefined()
    expect(parseText('null')).toBeNull()
  })
})
