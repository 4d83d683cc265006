// Reviews, findings and publishings of monitors in SQL.
import type {
  KnownFinding,
  MonitorKey,
  MonitorRecords,
  MonitorReviewRecord,
  Publishing,
} from '../../ports/monitors/monitor-records.ts'
import type { Tx } from '../database/database.ts'
import { listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import {
  type BodyRow,
  joinConditions,
  type MonitorParts,
  matchColumns,
  matchOlder,
  nameOwner,
  readBody,
} from './parts.ts'

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

type FindingRow = BodyRow & { shown_at: string | null; dismissed_at: string | null }

function toFinding(row: FindingRow): KnownFinding {
  return {
    ...readBody<KnownFinding>(row),
    ...(row.shown_at !== null && { shownAt: row.shown_at }),
    ...(row.dismissed_at !== null && { dismissedAt: row.dismissed_at }),
  }
}

async function insertFinding(tx: Tx, uid: string, finding: KnownFinding): Promise<void> {
  await tx.run(sql`insert into monitor_findings (monitor_uid, number, id, body)
    values (${uid}, ${finding.number}, ${encodeText(finding.id)}, ${JSON.stringify(finding)})
    on conflict (monitor_uid, number, id) do nothing`)
}

async function showFindings(tx: Tx, uid: string, { number, findings, endedAt }: Publishing): Promise<void> {
  if (findings.length === 0 || endedAt === undefined) return
  await tx.run(sql`update monitor_findings set shown_at = ${endedAt}
    where monitor_uid = ${uid} and number = ${number} and shown_at is null and id in (${listSql(findings.map(encodeText))})`)
}

async function insertPublishing(tx: Tx, { uid }: MonitorKey, publishing: Publishing): Promise<number> {
  const { id, number, headSHA, phase, startedAt } = publishing
  const { changes } = await tx.run(sql`insert into monitor_publishings
      (monitor_uid, id, number, head_sha, phase, started_at, body)
    values (${uid}, ${encodeText(id)}, ${number}, ${encodeText(headSHA)}, ${phase}, ${startedAt},
      ${JSON.stringify(publishing)})
    on conflict do nothing`)
  return changes
}

export function createReviews({ database, clock }: MonitorParts): Reviews {
  return {
    async addReview(monitor, review, found) {
      const body = JSON.stringify({ ...nameOwner(monitor), ...review })
      await database.write(async (tx) => {
        const { changes } = await tx.run(sql`insert into monitor_reviews (monitor_uid, id, number, created_at, body)
          values (${monitor.uid}, ${encodeText(review.id)}, ${review.number}, ${review.createdAt}, ${body})
          on conflict (monitor_uid, id) do nothing`)
        if (changes === 0) return
        for (const finding of found) await insertFinding(tx, monitor.uid, finding)
      })
    },

    async getReview({ uid }, id) {
      const row = await database.read.first(
        sql<BodyRow>`select body from monitor_reviews where monitor_uid = ${uid} and id = ${encodeText(id)}`,
      )
      return row && readBody<MonitorReviewRecord>(row)
    },

    async listReviews({ uid }, { limit, before, number }) {
      const conditions = [...matchColumns(uid, { number }), ...matchOlder('created_at', before)]
      const rows = await database.read.all(sql<BodyRow>`select body from monitor_reviews
        where ${joinConditions(conditions)} order by created_at desc, id desc limit ${limit}`)
      return rows.map((row) => readBody<MonitorReviewRecord>(row))
    },

    async listFindings({ uid }, number) {
      const rows = await database.read.all(sql<FindingRow>`select body, shown_at, dismissed_at from monitor_findings
        where monitor_uid = ${uid} and number = ${number} order by id`)
      return rows.map(toFinding)
    },

    async setDismissed({ uid }, { number, id }, dismissed) {
      const at = dismissed ? clock.now().toISOString() : null
      const { changes } = await database.write((tx) =>
        tx.run(sql`update monitor_findings set dismissed_at = ${at}
          where monitor_uid = ${uid} and number = ${number} and id = ${encodeText(id)}`),
      )
      return changes > 0
    },

    startPublishing: (monitor, publishing) =>
      database.write(async (tx) => (await insertPublishing(tx, monitor, publishing)) > 0),

    async endPublishing(monitor, publishing) {
      const { id, phase } = publishing
      await database.write(async (tx) => {
        const { changes } = await tx.run(sql`update monitor_publishings
          set phase = ${phase}, body = ${JSON.stringify(publishing)}
          where monitor_uid = ${monitor.uid} and id = ${encodeText(id)}`)
        if (changes === 0) await insertPublishing(tx, monitor, publishing)
        if (phase === 'succeeded') await showFindings(tx, monitor.uid, publishing)
      })
    },

    async listPublishings({ uid }, number) {
      const rows = await database.read.all(sql<BodyRow>`select body from monitor_publishings
        where monitor_uid = ${uid} and number = ${number} order by started_at desc, id desc`)
      return rows.map((row) => readBody<Publishing>(row))
    },
  }
}
