import { describe, expect, it } from 'vitest'
import { alternativesOf, childPath, emptyOf, type Schema, shapeOf, variantOf, withoutBlanks } from './schema.ts'

const text: Schema = { type: 'string', maxLength: 64 }

describe('what a value is drawn as', () => {
  it.each([
    ['line', text],
    ['text', { type: 'string' }],
    ['line', { type: 'string', format: 'uri' }],
    ['choice', { type: 'string', enum: ['a'] }],
    ['constant', { type: 'boolean', const: true }],
    ['number', { type: 'integer' }],
    ['flag', { type: 'boolean' }],
    ['list', { type: 'array', items: text }],
    ['fields', { type: 'object', properties: { name: text } }],
    ['map', { type: 'object', additionalProperties: text }],
    ['json', { type: 'object', additionalProperties: {} }],
    ['json', {}],
    ['variants', { anyOf: [text, { type: 'number' }] }],
  ] as const)('%s', (shape, schema) => {
    expect(shapeOf(schema as Schema)).toBe(shape)
  })
})

describe('a field that is added', () => {
  it('holds its default, or what must be filled in', () => {
    expect(emptyOf({ type: 'integer', default: 5 })).toBe(5)
    expect(emptyOf({ type: 'boolean' })).toBe(false)
    expect(emptyOf({ type: 'string', enum: ['b', 'c'] })).toBe('b')
    const reference = {
      type: 'object',
      required: ['name'],
      properties: { name: text, key: { ...text, default: 'api-key' } },
    }
    expect(emptyOf(reference)).toEqual({ name: '' })
  })

  it('is left out while nothing is filled in', () => {
    const inner: Schema = { type: 'object', properties: { model: text, count: { type: 'integer' } } }
    const schema: Schema = {
      type: 'object',
      required: ['name'],
      properties: { name: text, inner, tags: { type: 'array', items: text } },
    }
    expect(withoutBlanks(schema, { name: '', inner: { model: '', count: '' }, tags: [''] })).toEqual({
      name: '',
      tags: [''],
    })
    expect(withoutBlanks(schema, { name: 'a', inner: {} })).toEqual({ name: 'a', inner: {} })
    expect(withoutBlanks(schema, { name: 'a', unknown: '' })).toEqual({ name: 'a', unknown: '' })
  })
})

it('knows fields that exclude each other', () => {
  expect(alternativesOf({ not: { required: ['name', 'configMapRef'] } })).toEqual(['name', 'configMapRef'])
  expect(alternativesOf({ not: { required: ['inline', 'configMapRef'] } })).toEqual(['inline', 'configMapRef'])
  expect(alternativesOf({ not: {} })).toEqual([])
})

it('tells of which of several sorts a value is', () => {
  const options = [{ type: 'string' }, { type: 'number' }]
  expect([variantOf(options, 'a'), variantOf(options, 1), variantOf(options, undefined)]).toEqual([0, 1, 0])
})

it('writes paths as the service does', () => {
  expect(childPath('', 'spec')).toBe('spec')
  expect(childPath('spec.tools', 0)).toBe('spec.tools[0]')
  expect(childPath('metadata.labels', 'example.com/a')).toBe('metadata.labels["example.com/a"]')
})
