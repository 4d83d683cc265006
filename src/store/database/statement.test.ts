import { describe, expect, it } from 'vitest'
import { joinSql, listSql, sql } from './statement.ts'

describe('sql', () => {
  it('makes values parameters, in order', () => {
    expect(sql`select a from b where c = ${1} and d = ${'x'}`).toEqual({
      text: 'select a from b where c = ? and d = ?',
      parameters: [1, 'x'],
    })
  })

  it('gives the same text for other values of the same template', () => {
    const select = (name: string) => sql`select a from b where name = ${name}`
    expect(select("'; drop table b").text).toBe(select('x').text)
    expect(select('y').parameters).toEqual(['y'])
  })

  it('puts fragments in place and keeps null and bytes as values', () => {
    const bytes = new Uint8Array([1])
    const where = joinSql([sql`a = ${null}`, sql`b in (${listSql([1, 2])})`], ' and ')
    expect(sql`select ${sql`c`} from d where ${where} or e = ${bytes}`).toEqual({
      text: 'select c from d where a = ? and b in (?, ?) or e = ?',
      parameters: [null, 1, 2, bytes],
    })
  })
})
