// Records in SQLite on a volume of the cluster, which serves one replica: any other waits here, not ready, as long as
// the first one lives (MODE-011).
import { join } from 'node:path'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import type { Logger } from '../observability/log.ts'
import type { HealthCheck } from '../ports/index.ts'
import type { Leadership } from '../ports/service/leadership.ts'
import type { Closing } from '../service/closing.ts'
import type { Database } from '../store/database/database.ts'
import { createRecords, type RecordStores } from '../store/records.ts'
import { openSqlite } from '../store/sqlite/database.ts'

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
  return { database, records, health: { name: 'records', check: () => database.check() } }
}
