// Audit events of monitors in SQL. Ids rise with time, so that events of one moment keep their order.
import { uuidv7 } from 'uuidv7'
import type { EventDraft, MonitorEvent, MonitorKey, MonitorRecords } from '../../ports/monitors/monitors.ts'
import type { Tx } from '../database/database.ts'
import { joinSql, sql } from '../database/statement.ts'
import { column, json, number, optional, Table, text, word } from '../database/table.ts'
import { type MonitorParts, matchOlder, nameOwner } from './parts.ts'

const events = new Table('monitor_events', {
  monitorUid: word,
  id: word,
  runID: column('run_id', optional(text)),
  itemKind: optional(text),
  itemNumber: optional(number),
  eventType: text,
  createdAt: word,
  body: json<MonitorEvent>(),
})

export async function insertEvent(tx: Tx, monitor: MonitorKey, draft: EventDraft, createdAt: string): Promise<void> {
  const event: MonitorEvent = { id: `mevt-${uuidv7()}`, ...nameOwner(monitor), ...draft, createdAt }
  const { runID, itemKind, itemNumber, eventType } = event
  const keys = { monitorUid: monitor.uid, id: event.id, runID, itemKind, itemNumber, eventType, createdAt }
  await tx.run(events.insert({ ...keys, body: event }))
}

export function createMonitorEvents({ database, clock }: MonitorParts): Pick<MonitorRecords, 'append' | 'listEvents'> {
  return {
    async append(monitor, draft) {
      await database.write((tx) => insertEvent(tx, monitor, draft, clock.now().toISOString()))
    },

    async listEvents({ uid }, { limit, before, runID, itemKind, itemNumber, eventType }) {
      const conditions = [events.match({ monitorUid: uid, runID, itemKind, itemNumber, eventType })]
      const where = joinSql([...conditions, ...matchOlder('created_at', before)], ' and ')
      return events.valuesOf(
        database.read,
        'body',
        sql`where ${where} order by created_at desc, id desc limit ${limit}`,
      )
    },
  }
}
