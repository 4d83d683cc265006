// Findings of repository scans in SQL, and reviews that report them. Patches are in patches.ts.
import { createHash } from 'node:crypto'
import { dropUndefined } from '../../contract/json.ts'
import { severities } from '../../contract/resources/repository-scan.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Finding, FindingDraft, Findings, ReviewOutcome } from '../../ports/findings.ts'
import type { DroppedFinding, ScanKey } from '../../ports/scans.ts'
import { markFixed, newFinding, openAgain, seeAgain } from '../../rules/scans/finding-state.ts'
import type { Database, Tx } from './database.ts'
import { type FindingRow, lockFinding, writeFinding } from './finding-rows.ts'
import { createPatches } from './patches.ts'
import { announceRequest, matchColumns, readBody, readPage } from './scan-rows.ts'
import { updateSlice } from './scans.ts'
import { listSql, sql } from './statement.ts'
import { decodeText, encodeOptional, encodeText } from './stored-text.ts'

/** The same weakness in a scan that was made again is another finding. */
function idOf(scanUid: string, fingerprint: string): string {
  return `fnd_${createHash('sha256').update(`${scanUid}\0${fingerprint}`).digest('hex').slice(0, 12)}`
}

/** Of all files, those that changed last; they tell copies of the same code apart. */
const mostKnown = 2000

/** Neither dismissed nor fixed. */
const isOpen = sql`state in ('open', 'patch_pending', 'patch_ready', 'pr_open')`

type Review = ReviewOutcome & { scan: ScanKey; now: string }

async function reportFinding(tx: Tx, review: Review, draft: FindingDraft): Promise<{ id: string; isNew: boolean }> {
  const { scan, run, slice, taskName, now } = review
  const origin = { ...review.origin, scanRunID: run, scanTaskName: taskName, sliceID: slice }
  const id = idOf(scan.uid, draft.fingerprint)
  const known = (await lockFinding(tx, id))?.finding
  const place = { id, namespace: scan.namespace, repositoryScan: scan.name, now }
  const seeing = { now, startedAt: review.startedAt }
  const finding = known === undefined ? newFinding(draft, origin, place) : seeAgain(known, draft, origin, seeing)
  await writeFinding(tx, scan.uid, finding)
  return { id, isNew: known === undefined }
}

/** Of files that the review covered: findings of its slice, and of slices that there are no more. */
async function closeUnseen(tx: Tx, review: Review, seen: ReadonlySet<string>): Promise<void> {
  const { scan, slice, now } = review
  if (slice === undefined) return
  for (const path of review.covered) {
    const rows = await tx.all(sql<FindingRow>`select scan_uid, body from findings
      where scan_uid = ${scan.uid} and file_path = ${encodeText(path)}
        and ${isOpen} and (slice = ${encodeText(slice)} or slice is not null and not exists (
          select 1 from scan_slices where scan_slices.scan_uid = findings.scan_uid and scan_slices.id = findings.slice))`)
    for (const row of rows) {
      const finding = JSON.parse(row.body) as Finding
      if (!seen.has(finding.id)) await writeFinding(tx, scan.uid, markFixed(finding, now))
    }
  }
}

async function keepDropped(tx: Tx, review: Review): Promise<void> {
  const { scan, run, slice, taskName, now } = review
  for (const { id, reason, layer, sampleJSON } of review.dropped) {
    const place = { namespace: scan.namespace, repositoryScan: scan.name, scanRunID: run, taskName, sliceID: slice }
    const record = dropUndefined({ ...place, id, reason, layer, sampleJSON, createdAt: now }) as DroppedFinding
    await tx.run(sql`insert into scan_dropped (scan_uid, id, run, slice, layer, reason, folded_reason, created_at, body)
      values (${scan.uid}, ${encodeText(id)}, ${run}, ${encodeOptional(slice)}, ${layer}, ${encodeText(reason)},
        ${encodeText(reason.toLowerCase())}, ${now}, ${JSON.stringify(record)}) on conflict (scan_uid, id) do nothing`)
  }
}

async function record(tx: Tx, review: Review): Promise<boolean> {
  const { scan, run, slice, now } = review
  const part = encodeText(slice ?? review.part ?? '')
  const { changes } = await tx.run(sql`insert into scan_reviews (scan_uid, run, slice, accepted, added, dropped)
    values (${scan.uid}, ${run}, ${part}, ${review.accepted.length}, 0, ${review.dropped.length}) on conflict (scan_uid, run, slice) do nothing`)
  if (changes === 0) return false
  const seen = new Set<string>()
  let added = 0
  for (const draft of review.accepted) {
    const { id, isNew } = await reportFinding(tx, review, draft)
    seen.add(id)
    if (isNew) added += 1
  }
  await tx.run(sql`update scan_reviews set added = ${added}
    where scan_uid = ${scan.uid} and run = ${run} and slice = ${part}`)
  await closeUnseen(tx, review, seen)
  await keepDropped(tx, review)
  if (slice === undefined) return true
  const reviewed = { status: 'reviewed', error: undefined, lastReviewedAt: now, updatedAt: now } as const
  await updateSlice(tx, scan.uid, slice, { ...reviewed, taskName: review.taskName })
  return true
}

async function countOpen(database: Database, scanUid: string) {
  const rows = await database.read.all(sql<{ severity: (typeof severities)[number]; count: number }>`
    select severity, count(*) as count from findings where scan_uid = ${scanUid}
      and ${isOpen} group by severity`)
  const of = (severity: string) => Number(rows.find((row) => row.severity === severity)?.count ?? 0)
  const [critical, high, medium, low] = severities.map(of) as [number, number, number, number]
  return { total: critical + high + medium + low, critical, high, medium, low }
}

export function createFindings({ database, clock }: { database: Database; clock: Clock }): Findings {
  const readNow = () => clock.now().toISOString()
  const { read } = database
  return {
    recordReview: (scan, outcome) => database.write((tx) => record(tx, { ...outcome, scan, now: readNow() })),
    async get(namespace, id) {
      const row = await read.first(sql<FindingRow>`select scan_uid, body from findings
        where id = ${encodeText(id)} and namespace = ${encodeText(namespace)}`)
      return row && { scanUid: row.scan_uid, finding: readBody<Finding>(row) as Finding }
    },
    list(scanUid, { recommended, severity, validationStatus, state, sliceID, category, ...page }) {
      const columns = { severity, validation_status: validationStatus, state, slice: sliceID, category }
      const isRanked = recommended ? [sql`rank is not null`] : []
      const where = [sql`scan_uid = ${scanUid}`, ...isRanked, ...matchColumns(columns)]
      return readPage(read, { table: 'findings', order: recommended ? 'rank' : 'updated_at', where }, page)
    },
    async listKnown(scanUid, paths) {
      const own = paths.length === 0 ? sql`file_path is null` : sql`file_path in (${listSql(paths.map(encodeText))})`
      const rows = await read.all(sql<FindingRow>`select scan_uid, body from findings
        where scan_uid = ${scanUid} and ${own}
        union select scan_uid, body from (select scan_uid, body from findings where scan_uid = ${scanUid}
          order by updated_at desc, id desc limit ${mostKnown}) as latest`)
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
