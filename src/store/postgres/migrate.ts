// Migrates a database to the current schema, or refuses it unharmed. Of several processes that start together, one does
// it.
import type { Client } from 'pg'
import { SvcError } from '../../errors.ts'
import { type AppliedMigration, computeChecksum, type Migration, planMigrations } from '../database/migrations.ts'

const bookkeeping = `create table if not exists migrations (
  number integer primary key, name text not null, checksum text not null, applied_at text not null
)`

async function checkEncoding(client: Client): Promise<void> {
  const { rows } = await client.query({ text: 'show server_encoding' })
  const [row] = rows as { server_encoding: string }[]
  if (row?.server_encoding === 'UTF8') return
  throw new SvcError(
    'Unavailable',
    `The database has the encoding ${row?.server_encoding}: make one with the encoding UTF8 and name it instead.`,
  )
}

async function record(client: Client, migration: Migration): Promise<void> {
  await client.query({
    text: 'insert into migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)',
    values: [migration.number, migration.name, computeChecksum(migration), new Date().toISOString()],
  })
}

async function applyMissing(client: Client, known: readonly Migration[]): Promise<void> {
  await client.query(bookkeeping)
  const { rows } = await client.query({ text: 'select number, name, checksum from migrations order by number' })
  const { adopted, missing } = planMigrations(known, rows as AppliedMigration[])
  if (adopted !== undefined) {
    await client.query('delete from migrations')
    await record(client, adopted)
  }
  for (const migration of missing) {
    await client.query(migration.statements)
    await record(client, migration)
  }
}

/** Applies missing steps in one transaction. Unavailable, with the database untouched, when its schema is newer. */
export async function applyMigrations(client: Client, known: readonly Migration[]): Promise<void> {
  await checkEncoding(client)
  await client.query('begin')
  try {
    await client.query("select pg_advisory_xact_lock(hashtextextended('svc migrations', 0))")
    await applyMissing(client, known)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
