// Brings a database file to the present schema, or refuses it unharmed.
import { createHash } from 'node:crypto'
import type Sqlite from 'better-sqlite3'
import { SvcError } from '../../../errors.ts'

/** One step of the schema. Never changed once released: its checksum is kept in every database. */
export type Migration = {
  /** 1, 2, 3 ... without gaps. */
  number: number
  name: string
  /** Statements of the dialect, separated by `;`. */
  statements: string
}

type Applied = { number: number; name: string; checksum: string }

const bookkeeping = `create table if not exists migrations (
  number integer primary key, name text not null, checksum text not null, applied_at text not null
)`

function computeChecksum(migration: Migration): string {
  return createHash('sha256').update(migration.statements).digest('hex')
}

function checkNewest(known: readonly Migration[], applied: Applied[]): void {
  const newest = applied.at(-1)
  if (newest === undefined || newest.number <= known.length) return
  throw new SvcError(
    'Unavailable',
    `The database was written by a newer version of the service (schema ${newest.number}, this one knows ` +
      `${known.length}). Start that version, or restore a backup made by this one.`,
  )
}

function checkApplied(known: readonly Migration[], applied: Applied[]): void {
  checkNewest(known, applied)
  for (const row of applied) {
    const migration = known[row.number - 1]
    if (migration !== undefined && computeChecksum(migration) === row.checksum) continue
    throw new SvcError(
      'Unavailable',
      `The database has another schema step ${row.number} (${row.name}) than this version of the service. ` +
        'Start the version that made it, or restore a backup.',
    )
  }
}

function applyMissing(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.exec(bookkeeping)
  const applied = connection.prepare('select number, name, checksum from migrations order by number').all()
  checkApplied(known, applied as Applied[])
  const insert = connection.prepare('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)')
  for (const migration of known.slice(applied.length)) {
    connection.exec(migration.statements)
    insert.run(migration.number, migration.name, computeChecksum(migration), new Date().toISOString())
  }
}

/** Applies what is missing in one transaction. Unavailable, and the file untouched, when it is a newer one. */
export function applyMigrations(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.transaction(() => applyMissing(connection, known)).immediate()
}
