// Records in SQLite on a volume of the cluster, which serves one replica: any other waits here, not ready, as long as
// the first one lives (MODE-011).
import { join } from 'node:path'
import type { Database } from '../adapters/sql/database.ts'
import { createRecords, type RecordStores } from '../adapters/sql/records.ts'
import { openSqlite } from '../adapters/sql/sqlite/database.ts'
import { sql } from '../adapters/sql/statement.ts'
import { systemClock as clock, systemIds as ids } from '../adapters/system/clock.ts'
import type { Logger } from '../observability/log.ts'
import type { HealthCheck } from '../ports/index.ts'
import type { Leadership } from '../ports/leadership.ts'
import type { Closing } from '../service/closing.ts'

export type Stores = { database: Database; records: RecordStores; health: HealthCheck }

type VolumeParts = { dataDir: string; leadership: Leadership; log: Pick<Logger, 'info'> }

/** Resolves once this replica leads. */
export async function openVolume({ dataDir, leadership, log }: VolumeParts, closing: Closing): Promise<Stores> {
  log.info('records are in SQLite: one replica serves, others wait')
  await leadership.acquire(new AbortController().signal)
  const database = openSqlite({ path: join(dataDir, 'svc.db') })
  closing.add(() => database.close())
  const records = createRecords({ database, blobDir: dataDir, clock, ids })
  closing.add(() => records.close())
  await records.sweepOrphans()
  const check = async () => void (await database.read.first(sql`select 1`))
  return { database, records, health: { name: 'records', check } }
}
