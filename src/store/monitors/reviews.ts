// Reviews, findings and publishings of monitors in SQL.
import { dropUndefined } from '../../lib/json.ts'
import type {
  MonitorKey,
  MonitorRecords,
  MonitorReviewRecord,
  Publishing,
  StoredFinding,
} from '../../ports/monitors/monitors.ts'
import type { Tx } from '../database/database.ts'
import { joinSql, sql } from '../database/statement.ts'
import { column, json, number, optional, Table, text, word } from '../database/table.ts'
import { type MonitorParts, matchOlder, nameOwner } from './parts.ts'

type Reviews = Pick<
  MonitorRecords,
  | 'addReview'
  | 'getReview'
  | 'listReviews'
  | 'listFindings'
  | 'setDismissed'
  | 'startPublishing'
  | 'endPublishing'
  | 'listPublishings'
>

const reviews = new Table('monitor_reviews', {
  monitorUid: word,
  id: text,
  number,
  createdAt: word,
  body: json<MonitorReviewRecord>(),
})
const findings = new Table('monitor_findings', {
  monitorUid: word,
  number,
  id: text,
  shownAt: optional(word),
  dismissedAt: optional(word),
  body: json<StoredFinding>(),
})
const publishings = new Table('monitor_publishings', {
  monitorUid: word,
  id: text,
  number,
  headSHA: column('head_sha', text),
  phase: word,
  startedAt: word,
  body: json<Publishing>(),
})

async function showFindings(tx: Tx, uid: string, { number: item, findings: ids, endedAt }: Publishing): Promise<void> {
  if (ids.length === 0 || endedAt === undefined) return
  await tx.run(sql`update monitor_findings set shown_at = ${endedAt}
    where monitor_uid = ${uid} and number = ${item} and shown_at is null and ${findings.oneOf('id', ids)}`)
}

async function insertPublishing(tx: Tx, { uid }: MonitorKey, publishing: Publishing): Promise<number> {
  const insert = publishings.insert({ ...publishing, monitorUid: uid, body: publishing })
  const { changes } = await tx.run(sql`${insert} on conflict do nothing`)
  return changes
}

export function createReviews({ database, clock }: MonitorParts): Reviews {
  return {
    async addReview(monitor, review, found) {
      const { id, number: item, createdAt } = review
      const stored = {
        monitorUid: monitor.uid,
        id,
        number: item,
        createdAt,
        body: { ...nameOwner(monitor), ...review },
      }
      await database.write(async (tx) => {
        const insert = reviews.insert(stored)
        const { changes } = await tx.run(sql`${insert} on conflict (monitor_uid, id) do nothing`)
        if (changes === 0) return
        for (const finding of found) {
          const insert = findings.insert({ ...finding, monitorUid: monitor.uid, body: finding })
          await tx.run(sql`${insert} on conflict (monitor_uid, number, id) do nothing`)
        }
      })
    },

    async getReview({ uid }, id) {
      const where = reviews.match({ monitorUid: uid, id })
      return (await reviews.valuesOf(database.read, 'body', sql`where ${where}`))[0]
    },

    listReviews({ uid }, { limit, before, number: item }) {
      const conditions = [reviews.match({ monitorUid: uid, number: item }), ...matchOlder('created_at', before)]
      const where = joinSql(conditions, ' and ')
      return reviews.valuesOf(
        database.read,
        'body',
        sql`where ${where} order by created_at desc, id desc limit ${limit}`,
      )
    },

    async listFindings({ uid }, item) {
      const where = findings.match({ monitorUid: uid, number: item })
      const found = await findings.all(database.read, sql`where ${where} order by id`)
      return found.map(({ body, shownAt, dismissedAt }) => ({ ...body, ...dropUndefined({ shownAt, dismissedAt }) }))
    },

    async setDismissed({ uid }, { number: item, id }, dismissed) {
      const set = findings.set({ dismissedAt: dismissed ? clock.now().toISOString() : undefined })
      const where = findings.match({ monitorUid: uid, number: item, id })
      const { changes } = await database.write((tx) => tx.run(sql`update monitor_findings set ${set} where ${where}`))
      return changes > 0
    },

    startPublishing: (monitor, publishing) =>
      database.write(async (tx) => (await insertPublishing(tx, monitor, publishing)) > 0),

    async endPublishing(monitor, publishing) {
      const { id, phase } = publishing
      await database.write(async (tx) => {
        const set = publishings.set({ phase, body: publishing })
        const where = publishings.match({ monitorUid: monitor.uid, id })
        const { changes } = await tx.run(sql`update monitor_publishings set ${set} where ${where}`)
        if (changes === 0) await insertPublishing(tx, monitor, publishing)
        if (phase === 'succeeded') await showFindings(tx, monitor.uid, publishing)
      })
    },

    listPublishings({ uid }, item) {
      const where = publishings.match({ monitorUid: uid, number: item })
      return publishings.valuesOf(database.read, 'body', sql`where ${where} order by started_at desc, id desc`)
    },
  }
}
