// Runs, slices, dropped findings and threat models of repository scans, in SQL.
import { scannerPolicyVersion } from '../../contract/api/scans/runs.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type {
  NewRun,
  ReviewSlice,
  ReviewTotals,
  ScanKey,
  ScanRun,
  ScanRunChange,
  Scans,
  ThreatModel,
} from '../../ports/scans/scans.ts'
import type { Database, Tx } from '../database/database.ts'
import { listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { announceRequest, matchColumns, parseScanBody, readNote, readPage, requestChannel } from './scan-rows.ts'

type BodyRow = { body: string }
type ModelDraft = Parameters<Scans['saveThreatModel']>[1]

/** Whether what is stored goes before what was generated. */
function isCurrent(known: ThreatModel, draft: ModelDraft, since: string | undefined): boolean {
  if (known.content === draft.content) return true
  return since !== undefined && known.source !== 'generated' && known.updatedAt >= since
}

/** The newest version alone stays. */
async function saveThreatModel(
  tx: Tx,
  scan: ScanKey,
  draft: ModelDraft,
  times: { since?: string | undefined; now: string },
) {
  const { since, now } = times
  const row = await tx.first(sql<BodyRow>`update scan_threat_models set scan_uid = scan_uid
    where scan_uid = ${scan.uid} returning body`)
  const known = parseScanBody<ThreatModel>(row)
  if (known !== undefined && isCurrent(known, draft, since)) return known
  const owner = { namespace: scan.namespace, repositoryScan: scan.name }
  const version = (known?.version ?? 0) + 1
  const model = dropUndefined({ ...owner, ...draft, version, createdAt: known?.createdAt ?? now, updatedAt: now })
  await tx.run(sql`insert into scan_threat_models (scan_uid, body) values (${scan.uid}, ${JSON.stringify(model)})
    on conflict (scan_uid) do update set body = excluded.body`)
  return model as ThreatModel
}

function createThreatModels({
  database,
  clock,
}: {
  database: Database
  clock: Clock
}): Pick<Scans, 'getThreatModel' | 'saveThreatModel'> {
  return {
    getThreatModel: async (uid) =>
      parseScanBody(
        await database.read.first(sql<BodyRow>`select body from scan_threat_models where scan_uid = ${uid}`),
      ),
    saveThreatModel: (scan, draft, since) =>
      database.write((tx) => saveThreatModel(tx, scan, draft, { since, now: clock.now().toISOString() })),
  }
}

const tables = [
  'scan_runs',
  'scan_slices',
  'scan_reviews',
  'scan_dropped',
  'scan_imports',
  'scan_threat_models',
  'findings',
  'patches',
]

function describeNew({ namespace, name }: ScanKey, run: NewRun, now: string): ScanRun {
  const counts = { sliceCount: 0, reviewedSliceCount: 0, skippedSliceCount: 0, failedSlices: [] }
  const sums = { acceptedFindings: 0, droppedFindings: 0, tokens: 0, cost: 0, scannerPolicyVersion }
  const state = { phase: 'pending', stage: 'start', startedAt: now } as const
  return dropUndefined({ ...run, namespace, repositoryScan: name, ...state, ...counts, ...sums }) as ScanRun
}

const hasEnded = ({ phase }: ScanRun) => phase === 'succeeded' || phase === 'failed'

async function insertRun(tx: Tx, scan: ScanKey, run: ScanRun): Promise<ScanRun> {
  const row = await tx.first(sql<BodyRow>`insert into scan_runs (scan_uid, id, is_active, started_at, body)
    values (${scan.uid}, ${run.id}, 1, ${run.startedAt}, ${JSON.stringify(run)}) on conflict do nothing returning body`)
  announceRequest(tx, scan)
  if (row !== undefined) return run
  const same = await tx.first(sql<BodyRow>`select body from scan_runs where scan_uid = ${scan.uid} and id = ${run.id}`)
  if (same !== undefined) return JSON.parse(same.body) as ScanRun
  throw new SvcError('Conflict', `a security scan is already running for this repository: wait until it has ended`)
}

async function lockRun(tx: Tx, scanUid: string, id: string): Promise<ScanRun | undefined> {
  const row = await tx.first(sql<BodyRow>`update scan_runs set id = id
    where scan_uid = ${scanUid} and id = ${id} returning body`)
  return parseScanBody<ScanRun>(row)
}

async function writeRun(tx: Tx, scanUid: string, run: ScanRun): Promise<void> {
  await tx.run(sql`update scan_runs set is_active = ${hasEnded(run) ? null : 1}, body = ${JSON.stringify(run)}
    where scan_uid = ${scanUid} and id = ${run.id}`)
}

async function updateRun(tx: Tx, scanUid: string, id: string, change: ScanRunChange): Promise<ScanRun | undefined> {
  const run = await lockRun(tx, scanUid, id)
  if (run === undefined || hasEnded(run)) return run
  const changed = dropUndefined({ ...run, ...change }) as ScanRun
  await writeRun(tx, scanUid, changed)
  return changed
}

export async function writeSlice(tx: Tx, scanUid: string, slice: ReviewSlice): Promise<void> {
  await tx.run(sql`insert into scan_slices (scan_uid, id, status, updated_at, body)
    values (${scanUid}, ${encodeText(slice.id)}, ${slice.status}, ${slice.updatedAt}, ${JSON.stringify(slice)})
    on conflict (scan_uid, id) do update set status = excluded.status, updated_at = excluded.updated_at, body = excluded.body`)
}

export async function updateSlice(tx: Tx, scanUid: string, id: string, change: Partial<ReviewSlice>): Promise<void> {
  const row = await tx.first(sql<BodyRow>`update scan_slices set id = id
    where scan_uid = ${scanUid} and id = ${encodeText(id)} returning body`)
  const slice = parseScanBody<ReviewSlice>(row)
  if (slice !== undefined) await writeSlice(tx, scanUid, dropUndefined({ ...slice, ...change }) as ReviewSlice)
}

async function replaceSlices(
  tx: Tx,
  scan: ScanKey,
  cut: { run: string; slices: Parameters<Scans['cutSlices']>[2]; now: string },
): Promise<void> {
  const rows = await tx.all(sql<BodyRow>`select body from scan_slices where scan_uid = ${scan.uid}`)
  const before = new Map(rows.map((row) => JSON.parse(row.body) as ReviewSlice).map((slice) => [slice.id, slice]))
  for (const slice of cut.slices) {
    const known = before.get(slice.id)
    before.delete(slice.id)
    if (known?.lastScanRunID === cut.run) continue
    const owner = { namespace: scan.namespace, repositoryScan: scan.name, lastScanRunID: cut.run }
    const times = { lastReviewedAt: known?.lastReviewedAt, createdAt: known?.createdAt ?? cut.now, updatedAt: cut.now }
    await writeSlice(tx, scan.uid, dropUndefined({ ...slice, ...owner, ...times }) as ReviewSlice)
  }
  const gone = [...before.keys()].map(encodeText)
  for (let at = 0; at < gone.length; at += 500)
    await tx.run(
      sql`delete from scan_slices where scan_uid = ${scan.uid} and id in (${listSql(gone.slice(at, at + 500))})`,
    )
}

function matchPart(part: string | undefined) {
  return part === undefined
    ? []
    : [sql`folded_reason like ${`%${escapeLike(encodeText(part.toLowerCase()))}%`} escape '!'`]
}

const escapeLike = (text: string) => text.replace(/[!%_]/g, '!$&')

export function createScans({ database, clock }: { database: Database; clock: Clock }): Scans {
  const readNow = () => clock.now().toISOString()
  const of = (scanUid: string) => sql`scan_uid = ${scanUid}`
  return {
    startRun: (scan, run) => database.write((tx) => insertRun(tx, scan, describeNew(scan, run, readNow()))),
    activeRun: async (uid) =>
      parseScanBody(
        await database.read.first(sql<BodyRow>`select body from scan_runs where ${of(uid)} and is_active = 1`),
      ),
    getRun: async (uid, id) =>
      parseScanBody(
        await database.read.first(sql<BodyRow>`select body from scan_runs where ${of(uid)} and id = ${id}`),
      ),
    changeRun: (uid, id, change) => database.write((tx) => updateRun(tx, uid, id, change)),
    countUsage: (uid, id, used) =>
      database.write(async (tx) => {
        const run = await lockRun(tx, uid, id)
        if (run !== undefined) await writeRun(tx, uid, { ...run, ...used })
      }),
    listRuns: (uid, page) =>
      readPage(database.read, { table: 'scan_runs', order: 'started_at', where: [of(uid)] }, page),

    cutSlices: (scan, run, slices) => database.write((tx) => replaceSlices(tx, scan, { run, slices, now: readNow() })),
    getSlice: async (uid, id) =>
      parseScanBody(
        await database.read.first(
          sql<BodyRow>`select body from scan_slices where ${of(uid)} and id = ${encodeText(id)}`,
        ),
      ),
    changeSlice: (uid, id, change) =>
      database.write((tx) => updateSlice(tx, uid, id, { ...change, updatedAt: readNow() })),
    listSlices: (uid, { status, ...page }) => {
      const where = [of(uid), ...matchColumns({ status })]
      return readPage(database.read, { table: 'scan_slices', order: 'updated_at', where }, page)
    },

    async reviewTotals(uid, run) {
      const row = await database.read.first(sql<ReviewTotals>`select count(*) as reviews,
        coalesce(sum(accepted), 0) as accepted, coalesce(sum(added), 0) as added, coalesce(sum(dropped), 0) as dropped
        from scan_reviews where ${of(uid)} and run = ${run}`)
      const same = await database.read.first(sql<{ duplicates: number }>`select count(*) as duplicates
        from scan_dropped where ${of(uid)} and run = ${run} and layer = 'duplicate'`)
      const { reviews, accepted, added, dropped, duplicates } = { ...row, ...same }
      return {
        reviews: Number(reviews ?? 0),
        accepted: Number(accepted ?? 0),
        added: Number(added ?? 0),
        dropped: Number(dropped ?? 0),
        duplicates: Number(duplicates ?? 0),
      }
    },
    listDropped: (uid, { scanRunID: run, sliceID: slice, layer, reason, reasonPart, ...page }) => {
      const where = [of(uid), ...matchColumns({ run, slice, layer, reason }), ...matchPart(reasonPart)]
      return readPage(database.read, { table: 'scan_dropped', order: 'created_at', where }, page)
    },

    ...createThreatModels({ database, clock }),

    onRequest: (hear) => database.listen(requestChannel, (note) => hear(readNote(note))),

    async scanUids(after, limit) {
      const parts = tables.map((table) => `select distinct scan_uid from ${table} where scan_uid > ?`).join(' union ')
      const parameters = [...tables.map(() => after ?? ''), limit]
      const rows = await database.read.all<{ scan_uid: string }>({
        text: `select scan_uid from (${parts}) as scans order by scan_uid limit ?`,
        parameters,
      })
      return rows.map((row) => row.scan_uid)
    },
    async removeScan(uid) {
      for (const table of tables)
        await database.write((tx) => tx.run({ text: `delete from ${table} where scan_uid = ?`, parameters: [uid] }))
    },
  }
}
