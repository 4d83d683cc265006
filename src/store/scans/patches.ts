// Patches that were proposed for findings, in SQL; each changes together with its finding.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Finding, Findings, PatchProposal } from '../../ports/scans/findings.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { lockFinding, writeFinding } from './finding-rows.ts'
import { announceRequest } from './scan-rows.ts'

type BodyRow = { body: string }
type Patches = Pick<Findings, 'proposePatch' | 'listPatches' | 'listUndecided' | 'decidePatch'>

const readAll = <T>(rows: readonly BodyRow[]) => rows.map((row) => JSON.parse(row.body) as T)

async function writePatch(tx: Tx, scanUid: string, patch: PatchProposal): Promise<void> {
  const { id, findingID, status, createdAt } = patch
  await tx.run(sql`insert into patches (id, scan_uid, finding, status, created_at, body)
    values (${encodeText(id)}, ${scanUid}, ${encodeText(findingID)}, ${status}, ${createdAt}, ${JSON.stringify(patch)})
    on conflict (id) do update set status = excluded.status, body = excluded.body`)
}

async function findPatch(tx: Tx, id: string): Promise<PatchProposal | undefined> {
  const [patch] = readAll<PatchProposal>(
    await tx.all(sql<BodyRow>`select body from patches where id = ${encodeText(id)}`),
  )
  return patch
}

export function createPatches({ database, clock }: { database: Database; clock: Clock }): Patches {
  const readNow = () => clock.now().toISOString()
  return {
    proposePatch: (scanUid, draft, decide) =>
      database.write(async (tx) => {
        const found = await lockFinding(tx, draft.findingID)
        if (found === undefined || found.scanUid !== scanUid)
          throw new SvcError('NotFound', `finding not found: "${draft.findingID}"`)
        const known = await findPatch(tx, draft.id)
        if (known !== undefined) return known
        await writeFinding(tx, scanUid, decide(found.finding))
        const now = readNow()
        const patch = dropUndefined({ ...draft, createdAt: now, updatedAt: now }) as PatchProposal
        await writePatch(tx, scanUid, patch)
        announceRequest(tx, { namespace: patch.namespace, name: patch.repositoryScan })
        return patch
      }),
    async listPatches(findingId) {
      const rows = await database.read.all(sql<BodyRow>`select body from patches
        where finding = ${encodeText(findingId)} order by created_at desc, id desc limit 500`)
      return readAll(rows)
    },
    async listUndecided(scanUid) {
      const patches = await database.read.all(sql<BodyRow>`select body from patches
        where scan_uid = ${scanUid} and status = 'pending' order by created_at, id`)
      const validating = await database.read.all(sql<BodyRow>`select body from findings
        where scan_uid = ${scanUid} and validation_status = 'pending' order by updated_at, id`)
      return { patches: readAll<PatchProposal>(patches), validating: readAll<Finding>(validating) }
    },
    decidePatch: (findingId, id, decide) =>
      database.write(async (tx) => {
        const found = await lockFinding(tx, findingId)
        const patch = found && (await findPatch(tx, id))
        if (found === undefined || patch === undefined) return undefined
        const decided = decide(patch, found.finding)
        const changed = dropUndefined({ ...decided.patch, updatedAt: readNow() }) as PatchProposal
        await writePatch(tx, found.scanUid, changed)
        await writeFinding(tx, found.scanUid, decided.finding)
        return changed
      }),
  }
}
