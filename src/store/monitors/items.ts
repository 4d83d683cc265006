// Pull requests that monitors know, in SQL.
import { dropUndefined } from '../../contract/schema/json.ts'
import type { ItemState, MonitorItem, MonitorKey, MonitorRecords } from '../../ports/monitors/monitor-records.ts'
import { blockedVerdicts } from '../../rules/monitors/blocked-verdicts.ts'
import { type Fragment, listSql, sql } from '../database/statement.ts'
import { encodeOptional, encodeText } from '../database/stored-text.ts'
import { type BodyRow, joinConditions, type MonitorParts, matchColumns, nameOwner, readBody } from './parts.ts'

type Items = Pick<MonitorRecords, 'getItem' | 'putItem' | 'listItems' | 'listUnderWay' | 'listUnseen' | 'countItems'>

function presentItem(monitor: MonitorKey, row: BodyRow): MonitorItem {
  const { progress: _progress, failures: _failures, ...rest } = readBody<ItemState>(row)
  const { retryAt: _retryAt, publishRetryAt: _publishRetryAt, ...item } = rest
  return { ...nameOwner(monitor), ...item }
}

/** What comes after the last entry of a page: last changed first, then by number. */
function matchLater(before: readonly [string, string] | undefined): Fragment[] {
  if (before === undefined) return []
  const [time, number] = [encodeText(before[0]), Number(before[1])]
  return [sql`(updated_at < ${time} or (updated_at = ${time} and number > ${number}))`]
}

export function createItems({ database }: MonitorParts): Items {
  const select = async (condition: Fragment) => {
    const rows = await database.read.all(sql<BodyRow>`select body from monitor_items where ${condition}`)
    return rows.map((row) => readBody<ItemState>(row))
  }

  return {
    async getItem({ uid }, number) {
      return (await select(sql`monitor_uid = ${uid} and number = ${number}`))[0]
    },

    async putItem({ uid }, item) {
      const { number, kind, state, lastVerdict, repairState, automergeState, skipReason } = item
      const isPublishing = item.lastPublishPhase === 'started' || item.publishRetryAt !== undefined
      const isUnderWay = item.progress !== undefined || isPublishing
      const body = JSON.stringify(dropUndefined(item))
      const columns = sql`${encodeText(kind)}, ${encodeText(state)}, ${encodeOptional(lastVerdict)},
        ${encodeOptional(repairState)}, ${encodeOptional(automergeState)}, ${encodeOptional(skipReason)},
        ${isUnderWay ? 1 : 0}, ${item.updatedAt}, ${item.lastSeenAt}, ${body}`
      await database.write((tx) =>
        tx.run(sql`insert into monitor_items (monitor_uid, number, kind, state, verdict, repair_state, automerge_state,
            skip_reason, under_way, updated_at, last_seen_at, body)
          values (${uid}, ${number}, ${columns})
          on conflict (monitor_uid, number) do update set kind = excluded.kind, state = excluded.state,
            verdict = excluded.verdict, repair_state = excluded.repair_state,
            automerge_state = excluded.automerge_state, skip_reason = excluded.skip_reason,
            under_way = excluded.under_way, updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at,
            body = excluded.body`),
      )
    },

    async listItems(monitor, { limit, before, verdict, repairState, automergeState, ...columns }) {
      const wanted = { ...columns, verdict, repair_state: repairState, automerge_state: automergeState }
      const rows = await database.read.all(sql<BodyRow>`select body from monitor_items
        where ${joinConditions([...matchColumns(monitor.uid, wanted), ...matchLater(before)])}
        order by updated_at desc, number limit ${limit}`)
      return rows.map((row) => presentItem(monitor, row))
    },

    listUnderWay: ({ uid }) => select(sql`monitor_uid = ${uid} and under_way = 1 order by number`),

    listUnseen: ({ uid }, since) =>
      select(sql`monitor_uid = ${uid} and state = 'open' and last_seen_at < ${since} order by number`),

    async countItems({ uid }) {
      type Counts = { open: number; pending: number | null; blocked: number | null; skipped: number | null }
      const row = await database.read.first(sql<Counts>`select count(*) as open,
          sum(case when verdict = 'queued' then 1 else 0 end) as pending,
          sum(case when skip_reason is null and verdict in (${listSql(blockedVerdicts)}) then 1 else 0 end) as blocked,
          sum(case when skip_reason is not null and (verdict is null or verdict <> 'queued') then 1 else 0 end) as skipped
        from monitor_items where monitor_uid = ${uid} and state = 'open'`)
      const { open = 0, pending, blocked, skipped } = row ?? {}
      return {
        open: Number(open),
        pending: Number(pending ?? 0),
        blocked: Number(blocked ?? 0),
        skipped: Number(skipped ?? 0),
      }
    },
  }
}
