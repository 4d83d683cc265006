import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { explainIssue, formatPath, joinPath, parse, parseOrThrow, refuse } from './validation.ts'

const Sample = z.strictObject({
  name: z.string().max(3),
  mode: z.enum(['a', 'b']).optional(),
  count: z.int().min(1).optional(),
  list: z.array(z.strictObject({ value: z.string() })).optional(),
  labels: z.record(z.string().regex(/^[a-z.]+$/, 'must be lower case'), z.string()).optional(),
  either: z.union([z.string(), z.number()]).optional(),
})

function problemsOf(input: unknown) {
  try {
    parseOrThrow(Sample, input, 'sample')
  } catch (error) {
    if (error instanceof SvcError) return error
  }
  throw new Error('it was accepted')
}

describe('validation', () => {
  it('lists every problem with its own path [HTTP-004]', () => {
    const error = problemsOf({
      name: 'long',
      mode: 'c',
      count: 0,
      list: [{ value: 'x' }, { value: 1, extra: 1, other: 2 }],
      labels: { 'a.b': 1, X: 'y' },
      either: true,
      unknown: 1,
    })
    expect(error.status).toBe(400)
    expect(error.details).toEqual([
      { path: 'name', message: 'must have at most 3 characters' },
      { path: 'mode', message: 'must be one of a, b' },
      { path: 'count', message: 'must be at least 1' },
      { path: 'list[1].value', message: 'must be a text' },
      { path: 'list[1].extra', message: 'is not a known field' },
      { path: 'list[1].other', message: 'is not a known field' },
      { path: 'labels["a.b"]', message: 'must be a text' },
      { path: 'labels.X', message: 'key must be lower case' },
      { path: 'either', message: 'must be a text, or must be a number' },
      { path: 'unknown', message: 'is not a known field' },
    ])
    expect(error.message).toBe('invalid sample: name must have at most 3 characters (and 9 more; see details)')
  })

  it('says of what is missing that it is required', () => {
    expect(problemsOf({}).details).toEqual([{ path: 'name', message: 'is required' }])
    expect(problemsOf(undefined).details).toEqual([{ path: '', message: 'is required' }])
    expect(problemsOf([]).message).toBe('invalid sample: must be an object')
  })

  it('says of each form that a value may have what is wrong, and not of each entry of a list', () => {
    const Part = z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })])
    const Content = z.union([z.string(), z.array(z.union([z.string(), Part]))])
    const describe = (input: unknown) => {
      const issue = parse(z.object({ content: Content }), { content: input }).error?.issues[0]
      return issue && explainIssue(issue)
    }
    expect(describe([{ type: 'c' }])).toBe('must be a text, or [0] must be a text, or type must be one of a, b')
    expect(describe(Array.from({ length: 10_000 }, () => 7))?.length).toBeLessThan(1000)
  })

  it('describes no more faults than it reports, however many there are', () => {
    let worded = 0
    const value = z.string({
      error: () => {
        worded++
        return 'is wrong'
      },
    })
    const refused = (schema: z.ZodType, input: unknown) => {
      try {
        return parseOrThrow(schema, input, 'sample')
      } catch (error) {
        return error as SvcError
      }
    }
    const list = refused(z.strictObject({ list: z.array(value) }), { list: Array(100_000).fill(1) }) as SvcError
    expect(worded).toBeLessThanOrEqual(1001)
    expect(list.details).toHaveLength(1000)
    expect(list.message).toBe('invalid sample: list[0] is wrong (and at least 999 more; see details)')
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]))
    expect((refused(z.strictObject({}), keys) as SvcError).details).toHaveLength(1000)
  })

  it('returns what it parsed', () => {
    expect(parseOrThrow(Sample, { name: 'abc' }, 'sample')).toEqual({ name: 'abc' })
  })

  it('refuses only when there are problems', () => {
    expect(() => refuse('task', [])).not.toThrow()
    expect(() => refuse('task', [{ path: 'prompt', message: 'is required' }])).toThrow(
      'invalid task: prompt is required',
    )
  })

  it('writes paths that can be read', () => {
    expect(formatPath(['spec', 'env', 0, 'name'])).toBe('spec.env[0].name')
    expect(formatPath(['metadata', 'labels', 'example.com/a'])).toBe('metadata.labels["example.com/a"]')
    expect(joinPath('spec', '')).toBe('spec')
    expect(joinPath('spec', '["a/b"]')).toBe('spec["a/b"]')
    expect(joinPath('', 'name')).toBe('name')
  })
})
