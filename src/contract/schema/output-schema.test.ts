import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/json.ts'
import { outputSchemaProblems, schemaDraftOf } from './output-schema.ts'

const problemsOf = (schema: JsonObject) =>
  outputSchemaProblems(schema, ['ai', 'outputSchema']).map(({ path, message }) => `${path}: ${message}`)

function nest(depth: number): JsonObject {
  return depth === 1 ? { type: 'string' } : { type: 'array', items: nest(depth - 1) }
}

describe('a schema for answers', () => {
  it('may use every keyword that says something of a value, and refer to its own definitions', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'a list',
      type: ['object', 'null'],
      properties: {
        name: { type: 'string', minLength: 1, pattern: '^[a-z]+$', format: 'email' },
        choice: { enum: [1, 'two', null] },
        list: { type: 'array', prefixItems: [{ const: 1 }], items: { $ref: '#/$defs/a~1b' }, uniqueItems: true },
        tree: { $ref: '#' },
        open: true,
      },
      required: ['name'],
      additionalProperties: false,
      anyOf: [{ minProperties: 1 }, { not: { required: ['x'] } }],
      dependentRequired: { name: ['choice'] },
      $defs: { 'a/b': { type: 'number', multipleOf: 0.5, exclusiveMinimum: 0 } },
      'x-note': 'of its writer',
    }
    expect(problemsOf(schema)).toEqual([])
    expect(
      problemsOf({ $schema: 'http://json-schema.org/draft-07/schema#', items: [true], additionalItems: false }),
    ).toEqual([])
    expect(problemsOf({})).toEqual([])
  })

  it('is refused with the path and the reason of each problem', () => {
    const schema = {
      type: 'objekt',
      properties: { a: { type: 'string', minLength: -1 }, 'b c': 'text', d: { pattern: '(' } },
      required: 'a',
      items: [{ type: 'string' }],
      allOf: [],
      anyOf: [{ enum: [] }],
      multipleOf: 0,
    }
    expect(problemsOf(schema)).toEqual([
      'ai.outputSchema.type: must be one of object, array, string, number, integer, boolean, null, or a list of these',
      'ai.outputSchema.properties.a.minLength: must be a whole number, 0 or more',
      'ai.outputSchema.properties["b c"]: must be a schema: an object, true or false',
      'ai.outputSchema.properties.d.pattern: is not a regular expression',
      'ai.outputSchema.required: must be a list of property names',
      'ai.outputSchema.items: must be a schema: an object, true or false',
      'ai.outputSchema.allOf: must be a list of schemas',
      'ai.outputSchema.anyOf[0].enum: must be a list of values',
      'ai.outputSchema.multipleOf: must be a number above 0',
    ])
  })

  it('refers to nothing elsewhere', () => {
    for (const $ref of [
      'https://example.com/schema.json',
      'other.json',
      '#/$defs/missing',
      '#/properties/a',
      '#anchor',
      '#/$defs/toString',
      7,
    ]) {
      expect(problemsOf({ properties: { a: { $ref } }, $defs: { here: true } }), String($ref)).toEqual([
        'ai.outputSchema.properties.a["$ref"]: must be # or lead to a definition in this schema, as #/$defs/NAME',
      ])
    }
    for (const keyword of ['$id', 'id', '$anchor', '$dynamicRef', '$recursiveRef']) {
      expect(problemsOf({ properties: { a: { [keyword]: '#x' } } })[0], keyword).toMatch(
        /is not supported: give the definitions/,
      )
    }
    expect(problemsOf({ $schema: 'https://example.com/my-own' })).toEqual([
      'ai.outputSchema["$schema"]: must be draft 2020-12, 2019-09 or 07 of JSON Schema',
    ])
  })

  it('cannot be without an end: neither in itself nor for one value', () => {
    const circular = 'ai.outputSchema: has a $ref that leads back to itself without a property or an item in between'
    expect(problemsOf({ $ref: '#' })).toEqual([circular])
    expect(
      problemsOf({ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } }),
    ).toEqual([circular])
    expect(problemsOf({ $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } })).toEqual([])
  })

  it('is bounded in size and depth', () => {
    expect(problemsOf(nest(32))).toEqual([])
    expect(problemsOf(nest(33))[0]).toMatch(/items: is nested too deeply: at most 32 levels$/)
    expect(problemsOf({ description: 'x'.repeat(70_000) })).toEqual([
      'ai.outputSchema: has 70018 characters as JSON; at most 65536',
    ])
  })

  it('names its draft, or is of 2020-12', () => {
    expect(schemaDraftOf({})).toBe('2020-12')
    expect(schemaDraftOf({ $schema: 'http://json-schema.org/draft-07/schema#' })).toBe('7')
    expect(schemaDraftOf({ $schema: 'https://json-schema.org/draft/2019-09/schema' })).toBe('2019-09')
    expect(schemaDraftOf({ $schema: 'constructor' })).toBeUndefined()
  })
})
