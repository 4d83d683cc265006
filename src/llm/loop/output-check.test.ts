import { describe, expect, it } from 'vitest'
import { createOutputCheck } from './output-check.ts'

const person = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
  required: ['name'],
  additionalProperties: false,
}

describe('the check of an answer', () => {
  it('gives the JSON of a matching answer as it was written: alone, in blank space or in the one code block', async () => {
    const check = await createOutputCheck(person)
    const json = '{ "name": "Ada",\n "tags": ["a"] }'
    expect(check(json)).toEqual({ json })
    expect(check(`\n ${json}\n`)).toEqual({ json })
    expect(check(`\`\`\`json\n${json}\n\`\`\``)).toEqual({ json })
    expect(check(`Here it is:\n\`\`\`\n${json}\n\`\`\`\nThat is all.`)).toEqual({ json })
    expect((await createOutputCheck({ type: 'string' }))('"```json 1```"')).toEqual({ json: '"```json 1```"' })
  })

  it('says what is no JSON, and does not choose among several', async () => {
    const check = await createOutputCheck(person)
    expect(check(' ')).toEqual({ problem: 'it is empty.' })
    for (const text of [
      'Ada',
      '{"name":"Ada"',
      'It is {"name":"Ada"}',
      '```\n{"name":"A"}\n```\n```\n{"name":"B"}\n```',
    ]) {
      expect(check(text), text).toEqual({ problem: 'it is not JSON, or not JSON alone.' })
    }
    expect(check(`${'['.repeat(9000)}${']'.repeat(9000)}`)).toEqual({ problem: 'it is not JSON, or not JSON alone.' })
  })

  it('names each problem once, where it is', async () => {
    const check = await createOutputCheck(person)
    const { problem = '' } = check('{"name":"ada","tags":["a",5],"x":1}')
    expect(problem.split('\n')).toEqual([
      'it does not match the schema:',
      '- at /name: String does not match pattern.',
      '- at /tags/1: Instance does not match any of ["a","b"].',
      '- at the top: Property "x" does not match additional properties schema.',
    ])
    expect(check('[]').problem).toMatch(/^- at the top: Instance type "array" is invalid/m)
    const many = await createOutputCheck({ items: { type: 'string' } })
    expect(many(JSON.stringify(Array(100).fill(1))).problem?.split('\n')).toHaveLength(22)
  })

  it('goes by the draft that the schema names, and follows its own references', async () => {
    const pair = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
    const old = await createOutputCheck({ $schema: 'http://json-schema.org/draft-07/schema#', ...pair })
    expect(old('["a",1]').problem).toBeUndefined()
    expect(old('["a","b"]').problem).toContain('/1')
    const tree = {
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#' } } },
      additionalProperties: false,
    }
    const check = await createOutputCheck(tree)
    expect(check('{"kids":[{"kids":[]}]}').problem).toBeUndefined()
    expect(check('{"kids":[{"kid":[]}]}').problem).toContain('at /kids/0:')
    expect(Object.keys(tree)).toEqual(['type', 'properties', 'additionalProperties'])
  })

  it('ends with a pattern that would not, and with a schema that grows without bound', async () => {
    const slow = await createOutputCheck({ type: 'string', pattern: '^(a+)+$' })
    expect(slow(JSON.stringify(`${'a'.repeat(60)}b`)).problem).toMatch(/could not be compared with the schema/)
    const levels = Array.from({ length: 26 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ])
    const wide = await createOutputCheck({
      $ref: '#/$defs/d0',
      $defs: { ...Object.fromEntries(levels), d26: { type: 'string' } },
    })
    expect(wide('1').problem).toMatch(/could not be compared with the schema/)
  })
})
