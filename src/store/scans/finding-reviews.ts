// What reviews report, in SQL: findings that are new or seen again, those that are gone, and what was dropped.
import { createHash } from 'node:crypto'
import { dropUndefined } from '../../lib/json.ts'
import type { Finding, ReviewOutcome } from '../../ports/scans/findings.ts'
import type { DroppedFinding, ScanKey } from '../../ports/scans/scans.ts'
import { markFixed, newFinding, seeAgain } from '../../rules/scans/finding-state.ts'
import type { Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeOptional, encodeText } from '../database/stored-text.ts'
import { type FindingRow, isOpen, lockFindings, writeFindings } from './finding-rows.ts'
import { updateSlice } from './scans.ts'

/** The same weakness in a scan that was made again is another finding. */
function idOf(scanUid: string, fingerprint: string): string {
  return `fnd_${createHash('sha256').update(`${scanUid}\0${fingerprint}`).digest('hex').slice(0, 12)}`
}

type Review = ReviewOutcome & { scan: ScanKey; now: string }

/** Stores what was reported; ids of all, and how many of them are new. */
async function reportFindings(tx: Tx, review: Review): Promise<{ seen: Set<string>; added: number }> {
  const { scan, run, slice, taskName, now, startedAt, accepted } = review
  const origin = { ...review.origin, scanRunID: run, scanTaskName: taskName, sliceID: slice }
  const drafts = accepted.map((draft) => ({ id: idOf(scan.uid, draft.fingerprint), draft }))
  const seen = new Set(drafts.map(({ id }) => id))
  const known = await lockFindings(tx, [...seen])
  const findings = new Map<string, Finding>()
  for (const { id, draft } of drafts) {
    const earlier = findings.get(id) ?? known.get(id)
    const owner = { id, namespace: scan.namespace, repositoryScan: scan.name, now }
    const seeing = { now, startedAt }
    findings.set(
      id,
      earlier === undefined ? newFinding(draft, origin, owner) : seeAgain(earlier, draft, origin, seeing),
    )
  }
  await writeFindings(tx, scan.uid, [...findings.values()])
  return { seen, added: seen.size - known.size }
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
    const unseen = rows.map((row) => JSON.parse(row.body) as Finding).filter(({ id }) => !seen.has(id))
    await writeFindings(
      tx,
      scan.uid,
      unseen.map((finding) => markFixed(finding, now)),
    )
  }
}

async function keepDropped(tx: Tx, review: Review): Promise<void> {
  const { scan, run, slice, taskName, now } = review
  for (const { id, reason, layer, sampleJSON } of review.dropped) {
    const owner = { namespace: scan.namespace, repositoryScan: scan.name, scanRunID: run, taskName, sliceID: slice }
    const record = dropUndefined({ ...owner, id, reason, layer, sampleJSON, createdAt: now }) as DroppedFinding
    await tx.run(sql`insert into scan_dropped (scan_uid, id, run, slice, layer, reason, folded_reason, created_at, body)
      values (${scan.uid}, ${encodeText(id)}, ${run}, ${encodeOptional(slice)}, ${layer}, ${encodeText(reason)},
        ${encodeText(reason.toLowerCase())}, ${now}, ${JSON.stringify(record)}) on conflict (scan_uid, id) do nothing`)
  }
}

/** False: it was stored before. */
export async function recordReview(tx: Tx, review: Review): Promise<boolean> {
  const { scan, run, slice, now } = review
  const part = encodeText(slice ?? review.part ?? '')
  const { changes } = await tx.run(sql`insert into scan_reviews (scan_uid, run, slice, accepted, added, dropped)
    values (${scan.uid}, ${run}, ${part}, ${review.accepted.length}, 0, ${review.dropped.length}) on conflict (scan_uid, run, slice) do nothing`)
  if (changes === 0) return false
  const { seen, added } = await reportFindings(tx, review)
  await tx.run(sql`update scan_reviews set added = ${added}
    where scan_uid = ${scan.uid} and run = ${run} and slice = ${part}`)
  await closeUnseen(tx, review, seen)
  await keepDropped(tx, review)
  if (slice === undefined) return true
  const reviewed = { status: 'reviewed', error: undefined, lastReviewedAt: now, updatedAt: now } as const
  await updateSlice(tx, scan.uid, slice, { ...reviewed, taskName: review.taskName })
  return true
}
