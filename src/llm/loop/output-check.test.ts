import { describe, expect, it } from 'vitest'
import { createOutputCheck } from './output-check.ts'

const open = new AbortController().signal

function checkWith(schema: object) {
  const check = createOutputCheck({ ...schema })
  return (text: string) => check(text, open)
}

const person = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
  required: ['name'],
  additionalProperties: false,
}

describe('the check of an answer', () => {
  it('gives the JSON of a matching answer as it was written: alone, in blank space or in the one code block', async () => {
    const check = checkWith(person)
    const json = '{ "name": "Ada",\n "tags": ["a"] }'
    expect(await check(json)).toEqual({ json })
    expect(await check(`\n ${json}\n`)).toEqual({ json })
    expect(await check(`\`\`\`json\n${json}\n\`\`\``)).toEqual({ json })
    expect(await check(`Here it is:\n\`\`\`\n${json}\n\`\`\`\nThat is all.`)).toEqual({ json })
    expect(await checkWith({ type: 'string' })('"```json 1```"')).toEqual({ json: '"```json 1```"' })
  })

  it('says what is no JSON, and does not choose among several', async () => {
    const check = checkWith(person)
    expect(await check(' ')).toEqual({ problem: 'it is empty.' })
    for (const text of [
      'Ada',
      '{"name":"Ada"',
      'It is {"name":"Ada"}',
      '```\n{"name":"A"}\n```\n```\n{"name":"B"}\n```',
    ]) {
      expect(await check(text), text).toEqual({ problem: 'it is not JSON, or not JSON alone.' })
    }
    expect(await check(`${'['.repeat(9000)}${']'.repeat(9000)}`)).toEqual({
      problem: 'it is not JSON, or not JSON alone.',
    })
  })

  it('names each problem once, where it is', async () => {
    const check = checkWith(person)
    const { problem = '' } = await check('{"name":"ada","tags":["a",5],"x":1}')
    expect(problem.split('\n')).toEqual([
      'it does not match the schema:',
      '- at /name: String does not match pattern.',
      '- at /tags/1: Instance does not match any of ["a","b"].',
      '- at the top: Property "x" does not match additional properties schema.',
    ])
    expect((await check('[]')).problem).toMatch(/^- at the top: Instance type "array" is invalid/m)
    const many = checkWith({ items: { type: 'string' } })
    expect((await many(JSON.stringify(Array(100).fill(1)))).problem?.split('\n')).toHaveLength(22)
  })

  it('goes by the draft that the schema names, and follows its own references', async () => {
    const pair = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
    const old = checkWith({ $schema: 'http://json-schema.org/draft-07/schema#', ...pair })
    expect((await old('["a",1]')).problem).toBeUndefined()
    expect((await old('["a","b"]')).problem).toContain('/1')
    const tree = {
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#' } } },
      additionalProperties: false,
    }
    const check = checkWith(tree)
    expect((await check('{"kids":[{"kids":[]}]}')).problem).toBeUndefined()
    expect((await check('{"kids":[{"kid":[]}]}')).problem).toContain('at /kids/0:')
    expect(Object.keys(tree)).toEqual(['type', 'properties', 'additionalProperties'])
  })

  it('ends with a pattern that would not, and holds nothing else meanwhile', async () => {
    const patternProperties = { '^(b+)+$': {} }
    const slow = checkWith({ type: 'object', properties: { x: { pattern: '^(a+)+$' } }, patternProperties })
    let turns = 0
    const watch = setInterval(() => turns++, 1)
    const checked = await slow(JSON.stringify({ x: `${'a'.repeat(60)}b` })).finally(() => clearInterval(watch))
    const problem = 'it takes longer than 2 s, with the pattern "^(b+)+$" or "^(a+)+$"'
    expect(checked).toEqual({ unchecked: true, problem })
    expect(turns).toBeGreaterThan(0)
    expect(await slow('{"x":"a"}')).toEqual({ json: '{"x":"a"}' })
  })

  it('ends with a schema that grows without bound', async () => {
    const levels = Array.from({ length: 26 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ])
    const wide = checkWith({
      $ref: '#/$defs/d0',
      $defs: { ...Object.fromEntries(levels), d26: { type: 'string' } },
    })
    // Which end it meets first, of its time, its memory or its stack, is a matter of the machine.
    const problem = expect.stringMatching(/^(it takes (longer|more) than|the comparison failed \(RangeError)/)
    expect(await wide('1')).toEqual({ unchecked: true, problem })
  })

  it('waits no longer than its run', async () => {
    const over = new AbortController()
    const check = createOutputCheck({ pattern: '^(a+)+$' })(JSON.stringify(`${'a'.repeat(60)}b`), over.signal)
    over.abort(new Error('cancelled'))
    await expect(check).rejects.toThrow('cancelled')
  })
})
