import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parse } from '../../schema/validation.ts'
import { booleanParameter, integerParameter, ListQuery, listOf } from './list.ts'

describe('list parameters', () => {
  it('have a limit of 100 when none is given [HTTP-023]', () => {
    expect(ListQuery.parse({}).limit).toBe(100)
  })

  it.each([
    ['1', 1],
    ['500', 500],
    ['501', 500],
    ['999999999999999', 500],
  ])('take limit %s as %d [HTTP-024]', (text, limit) => {
    expect(ListQuery.parse({ limit: text }).limit).toBe(limit)
  })

  it.each(['0', '-1', 'ten', '', '1.5', '1e2', ' 5', '0x10', 'NaN'])('refuse limit %j', (limit) => {
    const result = parse(ListQuery, { limit })
    expect(result.error?.issues[0]?.message).toBe('must be a whole number of at least 1')
  })

  it('refuse a parameter that comes twice', () => {
    expect(ListQuery.safeParse({ limit: ['1', '2'] }).success).toBe(false)
    expect(ListQuery.safeParse({ namespace: ['a', 'b'] }).success).toBe(false)
  })

  it('know true and false, and nothing else', () => {
    const schema = z.object({ follow: booleanParameter(false) })
    expect(schema.parse({})).toEqual({ follow: false })
    expect(schema.parse({ follow: 'true' })).toEqual({ follow: true })
    expect(schema.safeParse({ follow: 'yes' }).success).toBe(false)
    expect(z.object({ mark: booleanParameter(true) }).parse({})).toEqual({ mark: true })
  })

  it('keep whole numbers in their range', () => {
    const schema = integerParameter({ min: 1, max: 10 })
    expect(schema.parse('10')).toBe(10)
    expect(['0', '11', 'x', '1.0'].map((text) => schema.safeParse(text).success)).toEqual([false, false, false, false])
  })
})

describe('list envelope', () => {
  it('has items and metadata, and no null [HTTP-020]', () => {
    const List = listOf(z.string(), 'TestStringList')
    expect(List.parse({ items: [], metadata: {} })).toEqual({ items: [], metadata: {} })
    expect(List.safeParse({ items: null, metadata: {} }).success).toBe(false)
    expect(List.safeParse({ items: [] }).success).toBe(false)
  })
})
