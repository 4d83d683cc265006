import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUsage } from '../budgets/usage.ts'
import { createMessages } from '../coordination/messages.ts'
import type { Migration } from '../database/migrations.ts'
import { sql } from '../database/statement.ts'
import { createAudit } from '../identity/audit.ts'
import { openSqlite } from './database.ts'
import { migrations } from './migrations.ts'

const first: Migration = { number: 1, name: 'notes', statements: 'create table notes (text text not null)' }
const second: Migration = {
  number: 2,
  name: 'authors',
  statements: "alter table notes add column author text not null default 'unknown'; create table authors (name text);",
}
const broken: Migration = {
  number: 3,
  name: 'broken',
  statements: 'create table more (a text); create table notes (a)',
}

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  path = join(folder, 'svc.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function open<T>(known: readonly Migration[], work: (database: ReturnType<typeof openSqlite>) => Promise<T>) {
  const database = openSqlite({ path, migrations: known })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
const addNote = (known: Migration[], text: string) =>
  open(known, (database) => database.write((tx) => tx.run(sql`insert into notes (text) values (${text})`)))
const readNotes = (known: Migration[]) => open(known, (database) => database.read.all(sql`select * from notes`))

describe('migrations', () => {
  it('bring data of the previous version to the current schema', async () => {
    await addNote([first], 'old')
    expect(await readNotes([first, second])).toEqual([{ text: 'old', author: 'unknown' }])
    expect(await readNotes([first, second])).toEqual([{ text: 'old', author: 'unknown' }])
  })

  it('refuse data of a newer version and leave it unchanged', async () => {
    await addNote([first, second], 'new')
    expect(() => openSqlite({ path, migrations: [first] })).toThrow(
      'written by a newer version of the service (schema 2',
    )
    expect(await readNotes([first, second])).toEqual([{ text: 'new', author: 'unknown' }])
  })

  it('refuse data to which another migration of the same number was applied', async () => {
    await addNote([first], 'old')
    const other = { ...first, statements: 'create table notes (text text)' }
    expect(() => openSqlite({ path, migrations: [other, second] })).toThrow('another schema step 1 (notes)')
    expect(await readNotes([first])).toEqual([{ text: 'old' }])
  })

  it('are rolled back together when one of them fails', async () => {
    await addNote([first], 'old')
    expect(() => openSqlite({ path, migrations: [first, second, broken] })).toThrow('notes')
    expect(await readNotes([first])).toEqual([{ text: 'old' }])
  })

  it('of the service are numbered without gaps and all apply to an empty file', async () => {
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1))
    const applied = await open(migrations, (database) => database.read.all(sql`select number, name from migrations`))
    expect(applied).toEqual(migrations.map(({ number, name }) => ({ number, name })))
  })

  it('let tasks be found by their session that were stored before they could be', async () => {
    const task = { spec: { sessionRef: { name: 'nightly' } } }
    const add = (name: string, object: object) => sql`insert into resources (kind, namespace, name, resource_version,
      object) values ('Task', 'default', ${name}, 1, ${JSON.stringify(object)})`
    await open(migrations.slice(0, 4), (database) =>
      database.write(async (tx) => {
        for (const name of ['old', 'newer']) await tx.run(add(name, task))
        await tx.run(add('alone', { spec: {} }))
        await tx.run(sql`insert into resource_index (kind, field, value, namespace, name)
          values ('Task', 'session', 'nightly', 'default', 'newer')`)
      }),
    )
    const find = sql`select name from resource_index where field = 'session' and value = 'nightly' order by name`
    expect(await open(migrations, (database) => database.read.all(find))).toEqual([{ name: 'newer' }, { name: 'old' }])
  })

  it('keep records readable that have names but no ids', async () => {
    const createdAt = '2026-01-01T00:00:00.000Z'
    await open(migrations, (database) =>
      database.write(async (tx) => {
        await tx.run(sql`insert into messages (namespace, parent_task, from_task, to_task, content, created_at)
          values ('default', 'boss', 'ann', 'bob', 'from before', ${createdAt})`)
        await tx.run(sql`insert into usage_records (id, namespace, provider, model, caller, input_tokens, output_tokens,
          cached_tokens, demo, created_at) values ('u', 'default', 'p', 'm', 'ann', 1, 2, 0, 0, ${createdAt})`)
        await tx.run(sql`insert into audit_records (id, created_at, caller, auth_type, via, verb, allowed)
          values ('a', ${createdAt}, 'ann', 'oidc', 'api', 'create', 1)`)
      }),
    )
    await open(migrations, async (database) => {
      const clock = { now: () => new Date(createdAt), sleep: () => Promise.resolve() }
      const query = { namespace: 'default', parent: { uid: 'p-1', name: 'boss' }, markRead: true }
      const messages = createMessages({ database, clock })
      const read = (uid: string, name: string) => messages.unread({ ...query, reader: { uid, name } })
      expect(await read('a-1', 'ann')).toEqual([])
      expect(await read('b-1', 'bob')).toMatchObject([{ fromTask: 'ann', toTask: 'bob', content: 'from before' }])
      expect(await read('b-1', 'bob')).toEqual([])
      const sums = await createUsage({ database, clock }).sum({ groupBy: 'caller' })
      expect(sums).toMatchObject([{ key: 'ann', caller: { name: 'ann' }, outputTokens: 2 }])
      const records = await createAudit({ database }).list({ caller: 'ann', limit: 9 })
      expect(records).toMatchObject([{ id: 'a', caller: { kind: 'oidc', name: 'ann' } }])
    })
  })
})
