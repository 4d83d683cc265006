// Imports of findings of scanners, in SQL.
import { createHash } from 'node:crypto'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { ImportEnd, NewImport, ScanImport, ScanImports, ScanKey } from '../../ports/scans/scans.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { announceRequest, parseScanBody, readPage } from './scan-rows.ts'

type BodyRow = { body: string }

const digestOf = ({ content, commitSHA = '' }: NewImport) =>
  createHash('sha256').update(`${commitSHA}\0${content}`).digest('hex')

function describeNew({ namespace, name }: ScanKey, { content: _, ...draft }: NewImport, now: string): ScanImport {
  const counts = { acceptedFindings: 0, newFindings: 0, droppedFindings: 0, fixedFindings: 0 }
  const initial = { namespace, repositoryScan: name, phase: 'pending', createdAt: now } as const
  return dropUndefined({ ...draft, ...initial, ...counts }) as ScanImport
}

async function insert(tx: Tx, scan: ScanKey, draft: NewImport, now: string): Promise<ScanImport> {
  const record = describeNew(scan, draft, now)
  const digest = digestOf(draft)
  const made = await tx.run(sql`insert into scan_imports (scan_uid, id, is_pending, digest, created_at, content, body)
    values (${scan.uid}, ${draft.id}, 1, ${digest}, ${now}, ${draft.content}, ${JSON.stringify(record)})
    on conflict do nothing`)
  announceRequest(tx, scan)
  if (made.changes > 0) return record
  const same = await tx.first(sql<BodyRow>`select body from scan_imports
    where scan_uid = ${scan.uid} and is_pending = 1 and digest = ${digest}`)
  if (same !== undefined) return JSON.parse(same.body) as ScanImport
  throw new SvcError('Conflict', 'another import of this scan is under way: wait until it has ended')
}

async function end(tx: Tx, { uid, id, now }: { uid: string; id: string; now: string }, change: ImportEnd) {
  const row = await tx.first(sql<BodyRow>`update scan_imports set id = id
    where scan_uid = ${uid} and id = ${encodeText(id)} and is_pending = 1 returning body`)
  const record = parseScanBody<ScanImport>(row)
  if (record === undefined) return
  const ended = dropUndefined({ ...record, ...dropUndefined(change), completedAt: now })
  await tx.run(sql`update scan_imports set is_pending = null, content = null, body = ${JSON.stringify(ended)}
    where scan_uid = ${uid} and id = ${encodeText(id)}`)
}

export function createScanImports({ database, clock }: { database: Database; clock: Clock }): ScanImports {
  const readNow = () => clock.now().toISOString()
  return {
    startImport: (scan, draft) => database.write((tx) => insert(tx, scan, draft, readNow())),
    async pendingImport(uid) {
      const row = await database.read.first(sql<BodyRow & { content: string }>`select body, content from scan_imports
        where scan_uid = ${uid} and is_pending = 1`)
      return row && { record: JSON.parse(row.body) as ScanImport, content: row.content }
    },
    endImport: (uid, id, change) => database.write((tx) => end(tx, { uid, id, now: readNow() }, change)),
    getImport: async (uid, id) =>
      parseScanBody(
        await database.read.first(
          sql<BodyRow>`select body from scan_imports where scan_uid = ${uid} and id = ${encodeText(id)}`,
        ),
      ),
    listImports: (uid, page) =>
      readPage(database.read, { table: 'scan_imports', order: 'created_at', where: [sql`scan_uid = ${uid}`] }, page),
  }
}
