// Findings of repository scans in SQL. What reviews report is in finding-reviews.ts, patches in patches.ts.
import { severities } from '../../contract/kinds/scans/repository-scan.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Finding, FindingFilter, Findings } from '../../ports/scans/findings.ts'
import { openAgain } from '../../rules/scans/finding-state.ts'
import type { Database } from '../database/database.ts'
import { type Fragment, listSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { recordReview } from './finding-reviews.ts'
import { type FindingRow, isOpen, lockFinding, writeFinding } from './finding-rows.ts'
import { createPatches } from './patches.ts'
import { announceRequest, matchColumns, parseScanBody, readPage } from './scan-rows.ts'

/** Of all files, those that changed last; they tell copies of the same code apart. */
const maxKnown = 2000

async function countOpen(database: Database, scanUid: string) {
  const rows = await database.read.all(sql<{ severity: (typeof severities)[number]; count: number }>`
    select severity, count(*) as count from findings where scan_uid = ${scanUid}
      and ${isOpen} group by severity`)
  const of = (severity: string) => Number(rows.find((row) => row.severity === severity)?.count ?? 0)
  const [critical, high, medium, low] = severities.map(of) as [number, number, number, number]
  return { total: critical + high + medium + low, critical, high, medium, low }
}

/** The filter that leaves the fewest findings goes through its index; the others are compared within that. */
function matchFilter({ dialect }: Database, filter: FindingFilter): Fragment[] {
  const { sliceID: slice, category, state, validationStatus: validation_status, severity } = filter
  const [first, ...others] = matchColumns({ slice, category, state, validation_status, severity })
  return first === undefined ? [] : [first, ...others.map((other) => dialect.besideIndex(other))]
}

export function createFindings({ database, clock }: { database: Database; clock: Clock }): Findings {
  const readNow = () => clock.now().toISOString()
  const { read } = database
  return {
    recordReview: (scan, outcome) => database.write((tx) => recordReview(tx, { ...outcome, scan, now: readNow() })),
    async get(namespace, id) {
      const row = await read.first(sql<FindingRow>`select scan_uid, body from findings
        where id = ${encodeText(id)} and namespace = ${encodeText(namespace)}`)
      return row && { scanUid: row.scan_uid, finding: parseScanBody<Finding>(row) as Finding }
    },
    list(scanUid, { recommended, ...query }) {
      const filter = matchFilter(database, query)
      // The index of all ranks is for those who want them all: it holds `rank > ''`, and is not chosen for another condition.
      const isRanked = filter.length === 0 ? sql`rank > ''` : sql`rank is not null`
      const where = [sql`scan_uid = ${scanUid}`, ...(recommended ? [isRanked] : []), ...filter]
      return readPage(read, { table: 'findings', order: recommended ? 'rank' : 'updated_at', where }, query)
    },
    async listKnown(scanUid, paths) {
      const own = paths.length === 0 ? sql`file_path is null` : sql`file_path in (${listSql(paths.map(encodeText))})`
      const rows = await read.all(sql<FindingRow>`select scan_uid, body from findings
        where scan_uid = ${scanUid} and ${own}
        union select scan_uid, body from (select scan_uid, body from findings where scan_uid = ${scanUid}
          order by updated_at desc, id desc limit ${maxKnown}) as latest`)
      return rows.map((row) => JSON.parse(row.body) as Finding)
    },
    async openPaths(scanUid) {
      const rows = await read.all(sql<{ file_path: string }>`select distinct file_path from findings
        where scan_uid = ${scanUid} and file_path is not null and ${isOpen}`)
      return rows.map((row) => decodeText(row.file_path))
    },
    async listOpen(scanUid, paths) {
      if (paths.length === 0) return []
      const rows = await read.all(sql<FindingRow>`select scan_uid, body from findings
        where scan_uid = ${scanUid} and file_path in (${listSql(paths.map(encodeText))}) and ${isOpen}`)
      return rows.map((row) => JSON.parse(row.body) as Finding)
    },
    count: (scanUid) => countOpen(database, scanUid),
    change: (namespace, id, decide) =>
      database.write(async (tx) => {
        const found = await lockFinding(tx, id)
        if (found === undefined || found.finding.namespace !== namespace) return undefined
        const changed = decide(found.finding)
        await writeFinding(tx, found.scanUid, changed)
        announceRequest(tx, { namespace, name: changed.repositoryScan })
        return changed
      }),
    endDismissals: (scanUid, now) =>
      database.write(async (tx) => {
        const rows = await tx.all(sql<FindingRow>`select scan_uid, body from findings
          where scan_uid = ${scanUid} and state = 'dismissed' and dismissed_until <= ${now.toISOString()}`)
        for (const row of rows) {
          const finding = JSON.parse(row.body) as Finding
          await writeFinding(tx, scanUid, openAgain(finding, now.toISOString(), 'its dismissal has run out'))
        }
        return rows.length
      }),
    async nextDismissalEnd(scanUid) {
      const row = await read.first(sql<{ until: string | null }>`select min(dismissed_until) as until from findings
        where scan_uid = ${scanUid} and state = 'dismissed' and dismissed_until is not null`)
      return row?.until ? new Date(row.until) : undefined
    },
    ...createPatches({ database, clock }),
  }
}
