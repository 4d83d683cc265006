// SQLite behind the Database interface: one connection writes, another reads, many writers share one commit.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Database, Reader } from '../database.ts'
import { createListeners } from '../listeners.ts'
import type { Migration } from '../migrations.ts'
import { sql } from '../statement.ts'
import { createExecutor } from './executor.ts'
import { createCommitQueue } from './group-commit.ts'
import { applyMigrations } from './migrate.ts'
import { migrations as allMigrations } from './migrations/index.ts'

export type SqliteOptions = {
  /** The database file; its folder is made when it is missing. */
  path: string
  /** Tests open older versions; everybody else leaves this out. */
  migrations?: readonly Migration[]
}

export interface SqliteDatabase extends Database {
  /** The most pages the file may have from now on: stands for a full disk in tests. */
  limitPages(count: number): void
  /** Unavailable once it was found to be damaged: it stays so until it is opened anew. */
  check(): Promise<void>
  /** Copies the database as of now into a new file while it is in use. */
  backup(path: string): Promise<void>
}

/** For its owner alone, also in a folder that others may read: the files beside it get the rights of this one. */
function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
}

/** Remembers that a statement met with damage, and passes everything on. */
function createDamageWatch() {
  let damage: SvcError | undefined
  const note = (error: unknown): never => {
    const { code = '' } = ((isSvcError(error) ? error.cause : undefined) ?? {}) as { code?: string }
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) damage ??= error as SvcError
    throw error
  }
  return {
    watch: <T>(work: Promise<T>) => work.catch(note),
    check: () => {
      if (damage !== undefined) throw damage
    },
  }
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
  connection.pragma('synchronous = full')
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

/** Opens (and migrates) the database in a file. `:memory:` does not work: reads have a connection of their own. */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  mkdirSync(dirname(options.path), { recursive: true })
  const writer = openWriter(options.path)
  try {
    applyMigrations(writer, options.migrations ?? allMigrations)
  } catch (error) {
    writer.close()
    throw error
  }
  const readConnection = openConnection(options.path, true)
  const listeners = createListeners<string>()
  const queue = createCommitQueue(writer, listeners.notify)
  const { watch, check } = createDamageWatch()
  const reader = createReader(readConnection)
  return {
    read: {
      all: (statement) => watch(reader.all(statement)),
      first: (statement) => watch(reader.first(statement)),
    },
    dialect: { claimRows: sql`` },
    write: (work) => watch(queue.write(work)),
    listen: listeners.add,
    check: async () => {
      await watch(reader.first(sql`select count(*) from sqlite_master`))
      check()
    },
    limitPages: (count) => void writer.pragma(`max_page_count = ${count}`),
    backup: async (path) => void (await readConnection.backup(path)),
    close: async () => {
      await queue.close()
      readConnection.close()
      writer.close()
    },
  }
}
