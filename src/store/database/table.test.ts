import { describe, expect, it } from 'vitest'
import type { Reader } from './database.ts'
import {
  column,
  escapedJson,
  flag,
  generated,
  json,
  number,
  optional,
  Table,
  text,
  time,
  word,
  wordOf,
} from './table.ts'

const things = new Table('things', {
  id: generated(number),
  taskUid: word,
  title: text,
  state: wordOf<'open' | 'closed'>(),
  isLast: flag,
  madeAt: time,
  owner: column('owned_by', optional(text)),
  body: json<{ words: string[] }>(),
  facts: optional(escapedJson<{ path: string }>()),
})
const madeAt = new Date('2026-11-28T00:00:00.000Z')
const draft = { taskUid: 'u', title: 'a\0b', state: 'open', isLast: true, madeAt, body: { words: ['x'] } } as const
const stored = { ...draft, body: { words: ['x'] } }

/** Answers every statement with these rows, and keeps the statements. */
function createReader(rows: object[]) {
  const asked: string[] = []
  const answer = (text: string) => {
    asked.push(text)
    return rows
  }
  const reader: Reader = {
    all: async ({ text }) => answer(text) as never,
    first: async ({ text }) => answer(text)[0] as never,
  }
  return { reader, asked }
}

describe('a table', () => {
  it('inserts records with the same text each time, without what the database gives', () => {
    const { text: statement, parameters } = things.insert(stored)
    const names = 'task_uid, title, state, is_last, made_at, owned_by, body, facts'
    expect(statement).toBe(`insert into things (${names}) values (?, ?, ?, ?, ?, ?, ?, ?)`)
    expect(parameters).toEqual(['u', 'a\\0b', 'open', 1, madeAt.toISOString(), null, '{"words":["x"]}', null])
    const owned = things.insert({ ...stored, owner: 'ann', facts: { path: 'a\\b' } })
    expect(owned.text).toBe(statement)
    expect(owned.parameters.slice(5)).toEqual(['ann', '{"words":["x"]}', '{"path":"a\\\\\\\\b"}'])
    expect(things.insert(stored, stored).text).toMatch(/values \(\?.*\), \(\?.*\)$/)
  })

  it('replaces all but the keys and what is to stay', () => {
    expect(things.replace(['taskUid'], ['title', 'state', 'isLast', 'madeAt', 'body']).text).toBe(
      ' on conflict (task_uid) do update set owned_by = excluded.owned_by, facts = excluded.facts',
    )
  })

  it('sets columns, and compares those that have a value', () => {
    expect(things.set({ owner: undefined, isLast: false })).toEqual({
      text: 'owned_by = ?, is_last = ?',
      parameters: [null, 0],
    })
    expect(things.match({ owner: undefined, title: '\0' })).toEqual({ text: 'title = ?', parameters: ['\\0'] })
    expect(things.match({})).toEqual({ text: '1 = 1', parameters: [] })
    expect(things.oneOf('title', ['a', '\0'])).toEqual({ text: 'title in (?, ?)', parameters: ['a', '\\0'] })
    expect(things.oneOf('title', []).text).toBe('1 = 0')
  })

  it('reads back what it wrote, and leaves out what is null', async () => {
    const row = {
      id: '7',
      task_uid: 'u',
      title: 'a\\0b',
      state: 'open',
      is_last: '1',
      made_at: madeAt.toISOString(),
      owned_by: null,
      body: '{"words":["x"]}',
      facts: null,
    }
    const { reader, asked } = createReader([row])
    const [read] = await things.all(reader, { text: 'where id = ?', parameters: [7] })
    expect(read).toStrictEqual({ id: 7, ...stored })
    expect(await things.returning(reader, { text: 'delete from things', parameters: [] })).toEqual(read)
    expect(asked).toEqual([
      `select ${things.columns.text} from things where id = ?`,
      `delete from things returning ${things.columns.text}`,
    ])
    const values = createReader([{ value: row.body }])
    expect(await things.valuesOf(values.reader, 'body', { text: '', parameters: [] })).toEqual([{ words: ['x'] }])
  })
})
