// The threat model of each scan, in SQL: the newest version alone.
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { ScanKey, Scans, ThreatModel } from '../../ports/scans/scans.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { parseScanBody } from './scan-rows.ts'

type BodyRow = { body: string }
type ModelDraft = Parameters<Scans['saveThreatModel']>[1]

/** Whether what is stored goes before what was generated. */
function isCurrent(known: ThreatModel, draft: ModelDraft, since: string | undefined): boolean {
  if (known.content === draft.content) return true
  return since !== undefined && known.source !== 'generated' && known.updatedAt >= since
}

async function save(tx: Tx, scan: ScanKey, draft: ModelDraft, times: { since?: string | undefined; now: string }) {
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

export function createThreatModels({
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
      database.write((tx) => save(tx, scan, draft, { since, now: clock.now().toISOString() })),
  }
}
