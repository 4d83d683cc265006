// SQLite behind the Database interface: one connection for writing and one for reading; concurrent writers share a commit.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Database, Dialect, Reader } from '../database/database.ts'
import { createListeners } from '../database/listeners.ts'
import { type AppliedMigration, computeChecksum, type Migration, planMigrations } from '../database/migrations.ts'
import { sql } from '../database/statement.ts'
import { touch } from '../database/touch.ts'
import { createExecutor } from './executor.ts'
import { createCommitQueue, createLogSync } from './group-commit.ts'
import { findLogDamage } from './log-damage.ts'
import { migrations as allMigrations } from './migrations.ts'
import { createTermIndex } from './term-index.ts'
import { createWriteHealth } from './write-health.ts'

export type SqliteOptions = {
  /** The database file; its folder is created when missing. */
  path: string
  /** Tests open older versions; all others leave this out. */
  migrations?: readonly Migration[]
  /** What a person types to take a backup back, for the message about a damaged file. */
  restoreCommand?: string
  /** Makes an open file durable; tests hold it back, or let it fail. */
  syncFile?: (file: FileHandle) => Promise<void>
}

export interface SqliteDatabase extends Database {
  /** Limits the pages of the file from now on; tests simulate a full disk with it. */
  limitPages(count: number): void
  /** Unavailable once damage was found, until the database is opened again, and while writes fail or their file is gone. */
  check(): Promise<void>
  /** Copies the database as of now into a new file while it is in use. */
  backup(path: string): Promise<void>
}

/** Readable by its owner only, even in a shared folder; SQLite gives the files beside it the same permissions. */
function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

function explainDamage({ path, restoreCommand = 'restore' }: SqliteOptions, where: string, cause?: unknown): SvcError {
  const advice = `stop the service, move its data folder away, and give it a backup with \`${restoreCommand}\``
  return new SvcError('Unavailable', `The database ${path} is damaged (${where}): ${advice}.`, { cause })
}

/** Remembers when a statement reports damage; passes every other error on. */
function createDamageWatch(options: SqliteOptions) {
  let damage: SvcError | undefined
  const note = (error: unknown): never => {
    const { code = '' } = ((isSvcError(error) ? error.cause : error) ?? {}) as { code?: string }
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) throw error
    damage ??= explainDamage(options, code, error)
    throw damage
  }
  return {
    watch: <T>(work: Promise<T>) => work.catch(note),
    attempt<T>(work: () => T): T {
      try {
        return work()
      } catch (error) {
        return note(error)
      }
    },
    check: () => {
      if (damage !== undefined) throw damage
    },
  }
}

const bookkeeping = `create table if not exists migrations (
  number integer primary key, name text not null, checksum text not null, applied_at text not null
)`

function applyMissing(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.exec(bookkeeping)
  const applied = connection.prepare('select number, name, checksum from migrations order by number').all()
  const { adopted, missing } = planMigrations(known, applied as AppliedMigration[])
  const insert = connection.prepare('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)')
  const record = (migration: Migration) =>
    insert.run(migration.number, migration.name, computeChecksum(migration), new Date().toISOString())
  if (adopted !== undefined) {
    connection.exec('delete from migrations')
    record(adopted)
  }
  for (const migration of missing) {
    connection.exec(migration.statements)
    record(migration)
  }
}

/** Applies missing steps in one transaction. Unavailable, with the file untouched, when its schema is newer. */
function applyMigrations(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.transaction(() => applyMissing(connection, known)).immediate()
}

function openConnection(path: string, readonly: boolean): Sqlite.Database {
  try {
    if (!readonly) makePrivate(path)
    const connection = new Sqlite(path, { readonly, timeout: 5000 })
    connection.pragma('foreign_keys = on')
    connection.pragma('temp_store = memory')
    return connection
  } catch (error) {
    throw new SvcError('Unavailable', `The database ${path} cannot be opened: ${String(error)}`, { cause: error })
  }
}

function openWriter(path: string): Sqlite.Database {
  const connection = openConnection(path, false)
  connection.pragma('journal_mode = wal')
  // Checkpoints are synced by SQLite, commits by the queue.
  connection.pragma('synchronous = normal')
  connection.pragma('wal_autocheckpoint = 1000')
  return connection
}

function createReader(connection: Sqlite.Database): Reader {
  const execute = createExecutor(connection)
  return {
    all: async (statement) => execute.all(statement),
    first: async (statement) => execute.first(statement),
  }
}

const createDialect = (): Dialect => ({
  claimRows: sql``,
  terms: createTermIndex(),
  encodeGrams: (grams) => grams.join(' '),
  matchGrams: (grams) => sql`transcript_grams match ${grams.map((gram) => `"${gram}"`).join(' AND ')}`,
  // https://sqlite.org/optoverview.html, "Disqualifying WHERE clause terms"
  besideIndex: (condition) => sql`+${condition}`,
  listNumbers: (numbers) => sql`(select value as wanted from json_each(${JSON.stringify(numbers)})) as listed`,
})

/** Opens (and migrates) the database in a file. `:memory:` does not work, because reads use a second connection. */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  mkdirSync(dirname(options.path), { recursive: true })
  const { watch, attempt, check } = createDamageWatch(options)
  const logDamage = findLogDamage(options.path)
  if (logDamage !== undefined) throw explainDamage(options, logDamage)
  const writer = attempt(() => openWriter(options.path))
  try {
    attempt(() => applyMigrations(writer, options.migrations ?? allMigrations))
  } catch (error) {
    writer.close()
    throw error
  }
  const readConnection = openConnection(options.path, true)
  const listeners = createListeners<string>()
  const health = createWriteHealth(options.path)
  const log = createLogSync(options)
  const queue = createCommitQueue({ connection: writer, announce: listeners.notify, health, sync: log.sync })
  const reader = createReader(readConnection)
  return {
    read: {
      all: (statement) => watch(reader.all(statement)),
      first: (statement) => watch(reader.first(statement)),
    },
    dialect: createDialect(),
    write: (work) => watch(queue.write(work)),
    listen: listeners.add,
    check: async () => {
      await watch(reader.first(sql`select count(*) from sqlite_master`))
      check()
      await health.check(() => watch(queue.write(touch)))
    },
    limitPages: (count) => void writer.pragma(`max_page_count = ${count}`),
    backup: async (path) => void (await readConnection.backup(path)),
    close: async () => {
      await queue.close()
      await log.close()
      readConnection.close()
      writer.close()
    },
  }
}
