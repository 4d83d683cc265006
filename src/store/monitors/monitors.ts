// Everything that monitors keep, in SQL, and its removal.
import type { MonitorRecords } from '../../ports/monitors/monitors.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { createMonitorEvents } from './events.ts'
import { createItems } from './items.ts'
import type { MonitorParts } from './parts.ts'
import { createReviews } from './reviews.ts'
import { createRuns } from './runs.ts'

const SWEEP_BATCH = 1000

const tables = [
  'monitor_runs',
  'monitor_items',
  'monitor_reviews',
  'monitor_findings',
  'monitor_publishings',
  'monitor_events',
].map((text): Fragment => ({ text, parameters: [] }))

/** The tables that grow with time, and what of each is old. */
const aging: [table: Fragment, old: (before: string) => Fragment][] = [
  [sql`monitor_runs`, (before) => sql`queued_at < ${before} and phase in ('succeeded', 'failed')`],
  [sql`monitor_reviews`, (before) => sql`created_at < ${before}`],
  [sql`monitor_events`, (before) => sql`created_at < ${before}`],
]

export function createMonitorRecords(parts: MonitorParts): MonitorRecords {
  const { database } = parts

  async function sweepBatch(table: Fragment, old: Fragment): Promise<number> {
    const { changes } = await database.write((tx) =>
      tx.run(sql`delete from ${table} where (monitor_uid, id) in
        (select monitor_uid, id from ${table} where ${old} limit ${SWEEP_BATCH})`),
    )
    return changes
  }

  return {
    ...createRuns(parts),
    ...createItems(parts),
    ...createReviews(parts),
    ...createMonitorEvents(parts),

    async monitorUids(after, limit) {
      const rows = await database.read.all(
        sql<{ uid: string }>`select uid from monitors where uid > ${after ?? ''} order by uid limit ${limit}`,
      )
      return rows.map(({ uid }) => uid)
    },

    async removeMonitor(uid) {
      await database.write(async (tx) => {
        for (const table of tables) await tx.run(sql`delete from ${table} where monitor_uid = ${uid}`)
        await tx.run(sql`delete from monitors where uid = ${uid}`)
      })
    },

    async sweep(before) {
      let removed = 0
      for (const [table, old] of aging) {
        for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
          batch = await sweepBatch(table, old(before.toISOString()))
        }
      }
      return removed
    },
  }
}
