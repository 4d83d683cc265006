// Records in PostgreSQL, for the composition root: what several replicas share (MODE-010).
import type { Clock, Ids } from '../../lib/clock.ts'
import type { HealthCheck } from '../../ports/index.ts'
import { touch } from '../database/touch.ts'
import { composeRecords, type RecordStores } from '../records.ts'
import { createPostgresBlobs } from './blobs.ts'
import { openPostgres, type PostgresDatabase, type PostgresOptions } from './database.ts'
import { createPostgresLogs } from './logs.ts'

export type PostgresRecords = {
  database: PostgresDatabase
  records: RecordStores
  /** Unavailable while the database cannot be reached, or takes no writes. */
  health: HealthCheck
  /** Completes pending work and closes every connection. */
  close(): Promise<void>
}

/** The record stores over an open database, which also holds bodies and logs. */
export function createPostgresRecords(deps: { database: PostgresDatabase; clock: Clock; ids: Ids }): RecordStores {
  const { database, clock, ids } = deps
  const blobs = createPostgresBlobs({ database, locks: database.locks, ids })
  return composeRecords({ database, blobs, logs: createPostgresLogs({ database, clock }), clock })
}

/** Opens the database (migrating it if necessary) and its record stores. Unavailable when it cannot be used. */
export async function openPostgresRecords(options: PostgresOptions): Promise<PostgresRecords> {
  const database = await openPostgres(options)
  const records = createPostgresRecords({ database, clock: options.clock, ids: options.ids })
  return {
    database,
    records,
    health: { name: 'records', check: async () => void (await database.write(touch)) },
    async close() {
      await records.close()
      await database.close()
    },
  }
}
