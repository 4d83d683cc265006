// Migrates a database file to the current schema, or refuses it unharmed.
import type Sqlite from 'better-sqlite3'
import { type AppliedMigration, computeChecksum, type Migration, planMigrations } from '../database/migrations.ts'

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
export function applyMigrations(connection: Sqlite.Database, known: readonly Migration[]): void {
  connection.transaction(() => applyMissing(connection, known)).immediate()
}
