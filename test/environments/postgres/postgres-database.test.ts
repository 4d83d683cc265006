// The Database interface on a real PostgreSQL, and how its schema comes to be.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../../src/errors.ts'
import type { Tx } from '../../../src/store/database/database.ts'
import type { Migration } from '../../../src/store/database/migrations.ts'
import { sql } from '../../../src/store/database/statement.ts'
import type { PostgresDatabase, PostgresOptions } from '../../../src/store/postgres/database.ts'
import { migrations } from '../../../src/store/postgres/migrations.ts'
import { migrations as sqliteMigrations } from '../../../src/store/sqlite/migrations.ts'
import { openReplica } from '../../contracts/postgres-bench.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'

const notes: Migration = {
  number: 1,
  name: 'notes',
  statements: `create table notes (id bigint generated always as identity primary key, text text collate "C" unique,
    bytes bytea)`,
}
const second: Migration = {
  number: 2,
  name: 'authors',
  statements: "alter table notes add column author text not null default 'unknown'; create table authors (name text);",
}
const broken: Migration = {
  number: 3,
  name: 'broken',
  statements: 'create table more (a text); create table notes (a text)',
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (isSvcError(error) ? error.reason : `other: ${error}`),
  )

it('PostgreSQL and SQLite have the same migrations, by number and name', () => {
  const list = (known: readonly Migration[]) => known.map(({ number, name }) => ({ number, name }))
  expect(list(migrations)).toEqual(list(sqliteMigrations))
  expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1))
})

describe.skipIf(postgresMissing !== undefined)('on a real PostgreSQL', () => {
  let server: PostgresServer
  let name: string
  let count = 0
  beforeAll(async () => {
    server = await startPostgres()
  }, 60_000)
  afterAll(() => server.remove(), 60_000)
  beforeEach(() => {
    count += 1
    name = `db_${count}`
    server.execute('postgres', `create database ${name}`)
  })

  const open = (options: Partial<PostgresOptions> = {}) =>
    openReplica(server, name, { migrations: [notes], ...options })

  describe('a unit of work', () => {
    let database: PostgresDatabase
    beforeEach(async () => {
      database = await open()
    })
    afterEach(() => database.close())

    const insert = (tx: Tx, text: string) => tx.run(sql`insert into notes (text) values (${text})`)
    const readTexts = async () =>
      (await database.read.all(sql<{ text: string }>`select text from notes order by id`)).map((row) => row.text)

    it('resolves with its value; numbers are numbers and bytes are bytes', async () => {
      const bytes = Buffer.from([0, 1, 255])
      const own = await database.write(async (tx) => {
        const { changes } = await tx.run(sql`insert into notes (text, bytes) values (${"it's ? \\ $1"}, ${bytes})`)
        return { changes, row: await tx.first(sql`select id, text, bytes from notes`) }
      })
      expect(own).toEqual({ changes: 1, row: { id: 1, text: "it's ? \\ $1", bytes } })
      expect(await database.read.first(sql`select count(*) as count, sum(id) as sum from notes`)).toEqual({
        count: 1,
        sum: 1,
      })
    })

    it('is rolled back when it throws, without affecting concurrent units', async () => {
      const work = (text: string) =>
        database.write(async (tx) => {
          await insert(tx, text)
          if (text === 'b') throw new Error('no')
        })
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(work))
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect((await readTexts()).sort()).toEqual(['a', 'c'])
    })

    it('is invisible to readers before its commit, and publishes only what is committed', async () => {
      const seen: Promise<string[]>[] = []
      const log: string[] = []
      await database
        .write(async (tx) => {
          await insert(tx, 'a')
          expect(await readTexts()).toEqual([])
          tx.afterCommit(() => {
            log.push('published')
            seen.push(readTexts())
          })
        })
        .then(() => log.push('resolved'))
      expect([log, await seen[0]]).toEqual([['published', 'resolved'], ['a']])
    })

    it('publishes nothing when it is rolled back, and once when it was retried', async () => {
      await database.write((tx) => insert(tx, 'a'))
      await database.write((tx) => insert(tx, 'b'))
      let runs = 0
      const published: string[] = []
      const together = Promise.withResolvers<void>()
      const cross = (first: string, then: string) =>
        database.write(async (tx) => {
          runs += 1
          tx.afterCommit(() => published.push(first))
          await tx.run(sql`update notes set bytes = null where text = ${first}`)
          if (runs === 2) together.resolve()
          await together.promise
          await tx.run(sql`update notes set bytes = null where text = ${then}`)
        })
      await Promise.all([cross('a', 'b'), cross('b', 'a')])
      expect(runs).toBe(3)
      expect(published.sort()).toEqual(['a', 'b'])
    })

    it('fails when it continues after a failed statement, instead of losing its writes silently', async () => {
      const work = database.write(async (tx) => {
        await insert(tx, 'a')
        await insert(tx, 'a').catch(() => undefined)
      })
      await expect(work).rejects.toThrow('went on after one of its statements failed')
      expect(await readTexts()).toEqual([])
    })

    it('reports a NUL character as the problem', async () => {
      expect(await reasonOf(database.write((tx) => insert(tx, 'a\0b')))).toBe('InvalidRequest')
      expect(await reasonOf(database.read.first(sql`select 1 from notes where text = ${'\0'}`))).toBe('InvalidRequest')
    })

    it('orders texts by their bytes, whatever the locale of the database is', async () => {
      for (const text of ['b', 'A', 'a', 'Z', 'é', '_']) await database.write((tx) => insert(tx, text))
      const rows = await database.read.all(sql<{ text: string }>`select text from notes order by text`)
      expect(rows.map((row) => row.text)).toEqual(['A', 'Z', '_', 'a', 'b', 'é'])
      const [locale] = await database.read.all(sql<{ first: string }>`select min(t) as first
        from (values ('b'), ('A'), ('a')) as texts (t)`)
      expect(locale?.first).toBe('a')
    })

    it('continues when another process changes a table used by its prepared statements', async () => {
      await database.write((tx) => insert(tx, 'a'))
      const read = () => database.read.all(sql`select * from notes`)
      await Promise.all(Array.from({ length: 10 }, read))
      server.execute(name, 'alter table notes add column more text')
      const found = await Promise.all(Array.from({ length: 10 }, read))
      expect(found.at(-1)).toEqual([{ id: 1, text: 'a', bytes: null, more: null }])
      await database.write((tx) => tx.all(sql`select * from notes`))
    })

    it('runs many different statements without keeping all of them prepared', async () => {
      for (let number = 1; number < 400; number += 1) {
        const row = await database.read.first({ text: `select ${number} as number`, parameters: [] })
        expect(row).toEqual({ number })
      }
      const kept = await database.read.first(
        sql<{ count: number }>`select count(*) as count from pg_prepared_statements`,
      )
      expect(kept?.count).toBeLessThanOrEqual(300)
    })

    it('is finished before the database closes, and refused afterwards', async () => {
      const pending = database.write((tx) => insert(tx, 'last'))
      const closing = database.close()
      expect(await reasonOf(database.write((tx) => insert(tx, 'late')))).toBe('Unavailable')
      expect(await reasonOf(readTexts())).toBe('Unavailable')
      await Promise.all([pending, closing])
      database = await open()
      expect(await readTexts()).toEqual(['last'])
    })
  })

  describe('the schema', () => {
    const addNote = async (known: Migration[], text: string) => {
      const database = await open({ migrations: known })
      await database.write((tx) => tx.run(sql`insert into notes (text) values (${text})`))
      await database.close()
    }
    const readNotes = async (known: Migration[]) => {
      const database = await open({ migrations: known })
      const rows = await database.read.all(sql`select * from notes`)
      await database.close()
      return rows
    }

    it('is migrated to the current version with its data', async () => {
      await addNote([notes], 'old')
      const expected = [{ id: 1, text: 'old', bytes: null, author: 'unknown' }]
      expect(await readNotes([notes, second])).toEqual(expected)
      expect(await readNotes([notes, second])).toEqual(expected)
    })

    it('of a newer version is refused and left unchanged', async () => {
      await addNote([notes, second], 'new')
      await expect(open({ migrations: [notes] })).rejects.toThrow('written by a newer version of the service (schema 2')
      expect(await readNotes([notes, second])).toHaveLength(1)
    })

    it('with another migration of the same number is refused', async () => {
      await addNote([notes], 'old')
      const other = { ...notes, statements: 'create table notes (text text)' }
      await expect(open({ migrations: [other, second] })).rejects.toThrow('another schema step 1 (notes)')
    })

    it('is left as it was when a migration fails', async () => {
      await addNote([notes], 'old')
      await expect(open({ migrations: [notes, second, broken] })).rejects.toThrow('already exists')
      expect(await readNotes([notes])).toEqual([{ id: 1, text: 'old', bytes: null }])
    })

    it('is created once by many replicas that start at the same time [MODE-010]', async () => {
      const slow = { ...notes, statements: `select pg_sleep(0.2); ${notes.statements}` }
      const replicas = await Promise.all(Array.from({ length: 5 }, () => open({ migrations: [slow, second] })))
      const applied = await replicas[0]?.read.all(sql`select number from migrations order by number`)
      expect(applied).toEqual([{ number: 1 }, { number: 2 }])
      await Promise.all(replicas.map((replica) => replica.close()))
    })

    describe('of the last version before the first release', () => {
      const dump = join(import.meta.dirname, '..', '..', 'fixtures', 'stored-data', 'postgres.sql.gz')
      const steps = () => server.execute(name, 'select number, name from migrations order by number').trim().split('\n')
      const changed = [
        'migrations',
        'stored_responses',
        'memory_spaces',
        'usage_attributes',
        'alerts',
        'step_counters',
        'steps',
        'network_hosts',
        'session_participants',
        'agent_versions',
      ].map((table) => `--exclude-table=${table}`)
      const dumpRows = () => server.dump(name, '--data-only', '--inserts', ...changed)
      /** Nothing is counted any more for spaces that are learnt, answers to approvals may go only so far, and pieces of logs say when. */
      const afterSteps = (rows: string) =>
        rows
          .replaceAll(/(INSERT INTO public\.memory_models VALUES \('[^']*', '[^']*', )\d+, /g, '$1')
          .replaceAll(/^(INSERT INTO public\.approvals VALUES .*)\);$/gm, '$1, NULL);')
          .replaceAll(/^(INSERT INTO public\.log_pieces VALUES .*)\);$/gm, '$1, NULL, NULL, NULL);')
      beforeEach(() => {
        server.execute(name, gunzipSync(readFileSync(dump)).toString())
      })

      it('is that of a new database, and is taken over with its rows as they are [PLAT-004]', async () => {
        const rows = dumpRows()
        expect(steps()).toHaveLength(35)
        await (await open({ migrations })).close()
        expect(steps()).toEqual([
          '1|first release',
          '2|stored responses',
          '3|memories by origin',
          '4|makers of stored responses',
          '5|tasks by session',
          '6|attributes of usage',
          '7|alerts',
          '8|steps of attempts',
          '9|tasks by their end',
          '10|network of attempts',
          '11|pieces of logs by attempt and time',
          '12|participants of sessions',
          '13|versions of agents',
        ])
        expect(dumpRows()).toBe(afterSteps(rows))
        server.execute('postgres', `create database ${name}_fresh`)
        await (await openReplica(server, `${name}_fresh`)).close()
        const schema = server.dump(name, '--schema-only')
        expect(schema.match(/^CREATE TABLE/gm)?.length).toBeGreaterThan(60)
        expect(schema).toBe(server.dump(`${name}_fresh`, '--schema-only'))
        await (await open({ migrations })).close()
      })

      it('is refused, and left as it is, where steps are missing', async () => {
        server.execute(name, 'delete from migrations where number > 17')
        await expect(open({ migrations })).rejects.toThrow(
          'before the first release (schema step 17 of 35). Start the last',
        )
        expect(steps()).toHaveLength(17)
      })
    })

    it('is not created in a database whose encoding cannot keep every text', async () => {
      server.execute(
        'postgres',
        `create database ${name}_ascii template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`,
      )
      await expect(openReplica(server, `${name}_ascii`)).rejects.toThrow(
        'has the encoding SQL_ASCII: make one with the encoding UTF8',
      )
    })
  })
})
