// Audit events of monitors in SQL. Ids rise with time, so that events of one moment keep their order.
import { uuidv7 } from 'uuidv7'
import type { EventDraft, MonitorEvent, MonitorKey, MonitorRecords } from '../../ports/monitors/monitor-records.ts'
import type { Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeOptional, encodeText } from '../database/stored-text.ts'
import {
  type BodyRow,
  joinConditions,
  type MonitorParts,
  matchColumns,
  matchOlder,
  nameOwner,
  readBody,
} from './parts.ts'

export async function insertEvent(tx: Tx, monitor: MonitorKey, draft: EventDraft, createdAt: string): Promise<void> {
  const event: MonitorEvent = { id: `mevt-${uuidv7()}`, ...nameOwner(monitor), ...draft, createdAt }
  const { runID, itemKind, itemNumber, eventType } = event
  await tx.run(sql`insert into monitor_events
      (monitor_uid, id, run_id, item_kind, item_number, event_type, created_at, body)
    values (${monitor.uid}, ${event.id}, ${encodeOptional(runID)}, ${encodeOptional(itemKind)}, ${itemNumber ?? null},
      ${encodeText(eventType)}, ${createdAt}, ${JSON.stringify(event)})`)
}

export function createMonitorEvents({ database, clock }: MonitorParts): Pick<MonitorRecords, 'append' | 'listEvents'> {
  return {
    async append(monitor, draft) {
      await database.write((tx) => insertEvent(tx, monitor, draft, clock.now().toISOString()))
    },

    async listEvents({ uid }, { limit, before, runID, itemKind, itemNumber, eventType }) {
      const wanted = { run_id: runID, item_kind: itemKind, item_number: itemNumber, event_type: eventType }
      const conditions = [...matchColumns(uid, wanted), ...matchOlder('created_at', before)]
      const rows = await database.read.all(sql<BodyRow>`select body from monitor_events
        where ${joinConditions(conditions)} order by created_at desc, id desc limit ${limit}`)
      return rows.map((row) => readBody<MonitorEvent>(row))
    },
  }
}
