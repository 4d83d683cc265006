import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { addUsageWish, readRequestFields, replaceModel } from './request-text.ts'

function rename(text: string, name: string): string {
  const bytes = Buffer.from(text)
  return replaceModel(bytes, readRequestFields(bytes), name).toString('utf8')
}

describe('the model of a request', () => {
  it.each([
    ['{"model":"a/b","x":1}', '{"model":"b","x":1}'],
    ['{ "x" : {"model":"inner"} , "model" :\n "a/b" }', '{ "x" : {"model":"inner"} , "model" :\n "b" }'],
    ['{"a":"\\"model\\":\\"no\\"","model":"a/b"}', '{"a":"\\"model\\":\\"no\\"","model":"b"}'],
    ['{"mod\\u0065l":"a/b"}', '{"mod\\u0065l":"b"}'],
    ['{"model":null,"n":1.50}', '{"model":"b","n":1.50}'],
    ['{"n":1.50}', '{"model":"b","n":1.50}'],
    [' { } ', ' {"model":"b" } '],
  ])('is replaced in %s, and nothing else [PROXY-003]', (text, expected) => {
    expect(rename(text, 'b')).toBe(expected)
  })

  it('is not touched when it is already right', () => {
    const bytes = Buffer.from('{"model":"b"}')
    expect(replaceModel(bytes, readRequestFields(bytes), 'b')).toBe(bytes)
  })

  it('is replaced without changing any other byte of any JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(2), (object, name, blanks) => {
        const text = JSON.stringify({ ...object, model: 'provider/old' }, null, blanks)
        const changed = rename(text, name)
        expect(JSON.parse(changed)).toEqual({ ...JSON.parse(text), model: name })
        expect(changed).toBe(JSON.stringify({ ...object, model: name }, null, blanks))
      }),
    )
  })

  it('is refused when the key occurs twice, since two programs could read two different values', () => {
    expect(() => readRequestFields(Buffer.from('{"model":"a","mod\\u0065l":"b"}'))).toThrow('twice')
  })

  it('must be a string', () => {
    expect(() => readRequestFields(Buffer.from('{"model":7}'))).toThrow('must be a string')
  })
})

describe('a body of millions of values', () => {
  const many = `[${Array(1_000_000).fill('0').join()}]`

  it('is scanned without parsing any of them', () => {
    const parse = vi.spyOn(JSON, 'parse')
    try {
      const text = `{"model":"m","stream":${many},"stream_options":{"x":${many}},"messages":${many}}`
      const fields = readRequestFields(Buffer.from(text))
      expect(fields).toMatchObject({ model: 'm', stream: false })
      expect(addUsageWish(Buffer.from(text), fields)).toBeUndefined()
      expect(() => readRequestFields(Buffer.from(`{"model":${many}}`))).toThrow('must be a string')
      expect(Math.max(...parse.mock.calls.map(([part]) => part.length))).toBeLessThan(100)
    } finally {
      parse.mockRestore()
    }
  })
})

describe('the stream flag', () => {
  it.each([
    ['{"stream":true}', true],
    ['{"stream": true }', true],
    ['{"stream":false}', false],
    ['{"options":{"stream":true}}', false],
    ['{}', false],
  ])('of %s is %s', (text, stream) => {
    expect(readRequestFields(Buffer.from(text)).stream).toBe(stream)
  })
})

describe('a body', () => {
  it.each([
    '',
    '[]',
    '"x"',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '{a:1}',
    '{"a":1}x',
    '{"a":"x}',
    '{"a":[1}',
    '{"a"}',
  ])('%j is refused with the place of the fault', (text) => {
    expect(() => readRequestFields(Buffer.from(text))).toThrow(/not a valid JSON object|byte/)
  })

  it('never makes the scanner hang or fail with anything but InvalidRequest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readRequestFields(Buffer.concat([Buffer.from('{"model":"m",'), bytes]))
        } catch (error) {
          expect(error).toMatchObject({ reason: 'InvalidRequest' })
        }
      }),
    )
  })
})
