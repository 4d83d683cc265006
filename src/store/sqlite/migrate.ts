// Migrates a database file to the current schema, or refuses it unharmed.
import type Sqlite from 'better-sqlite3'
import { type AppliedMigration, checkApplied, computeChecksum, type Migration } from '../database/migrations.ts'

const bookkeeping = `create table if not exists migrations (
  number integer primary key, name text not null, checksum text not null, applied_at text not null
)`

function applyMissing(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.exec(bookkeeping)
  const applied = connection.prepare('select number, name, checksum from migrations order by number').all()
  checkApplied(known, applied as AppliedMigration[])
  const insert = connection.prepare('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)')
  for (const migration of known.slice(applied.length)) {
    connection.exec(migration.statements)
    insert.run(migration.number, migration.name, computeChecksum(migration), new Date().toISOString())
  }
}

/** Applies missing steps in one transaction. Unavailable, with the file untouched, when its schema is newer. */
export function applyMigrations(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.transaction(() => applyMissing(connection, known)).immediate()
}
