// Pull requests that monitors know, in SQL.
import { dropUndefined } from '../../lib/json.ts'
import type { ItemState, MonitorItem, MonitorKey, MonitorRecords } from '../../ports/monitors/monitors.ts'
import { blockedVerdicts } from '../../rules/monitors/publish.ts'
import { type Fragment, joinSql, listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { flag, json, number, optional, Table, text, word } from '../database/table.ts'
import { type MonitorParts, nameOwner } from './parts.ts'

type Items = Pick<MonitorRecords, 'getItem' | 'putItem' | 'listItems' | 'listUnderWay' | 'listUnseen' | 'countItems'>

const items = new Table('monitor_items', {
  monitorUid: word,
  number,
  kind: text,
  state: text,
  verdict: optional(text),
  repairState: optional(text),
  automergeState: optional(text),
  skipReason: optional(text),
  underWay: flag,
  updatedAt: word,
  lastSeenAt: word,
  body: json<ItemState>(),
})

function presentItem(monitor: MonitorKey, state: ItemState): MonitorItem {
  const { progress: _progress, failures: _failures, ...rest } = state
  const { retryAt: _retryAt, publishRetryAt: _publishRetryAt, publishWish: _publishWish, ...item } = rest
  return { ...nameOwner(monitor), ...item }
}

/** What comes after the last entry of a page: last changed first, then by number. */
function matchLater(before: readonly [string, string] | undefined): Fragment[] {
  if (before === undefined) return []
  const [time, number] = [encodeText(before[0]), Number(before[1])]
  return [sql`(updated_at < ${time} or (updated_at = ${time} and number > ${number}))`]
}

export function createItems({ database }: MonitorParts): Items {
  const select = (condition: Fragment) => items.valuesOf(database.read, 'body', sql`where ${condition}`)

  return {
    async getItem({ uid }, number) {
      return (await select(sql`monitor_uid = ${uid} and number = ${number}`))[0]
    },

    async putItem({ uid }, item) {
      const isPublishing = item.lastPublishPhase === 'started' || item.publishRetryAt !== undefined
      const underWay = item.progress !== undefined || isPublishing
      const stored = { ...item, monitorUid: uid, verdict: item.lastVerdict, underWay, body: dropUndefined(item) }
      const insert = items.insert(stored)
      await database.write((tx) => tx.run(sql`${insert}${items.replace(['monitorUid', 'number'])}`))
    },

    async listItems(monitor, { limit, before, ...wanted }) {
      const where = joinSql([items.match({ monitorUid: monitor.uid, ...wanted }), ...matchLater(before)], ' and ')
      const page = sql`order by updated_at desc, number limit ${limit}`
      return (await select(sql`${where} ${page}`)).map((state) => presentItem(monitor, state))
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
