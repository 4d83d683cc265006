// The start of a run: which commit, by which policies.
import { createHash } from 'node:crypto'
import { scannerPolicyVersion } from '../../contract/api/scans/runs.ts'
import { type ActiveRun, changeRun } from './active-run.ts'
import type { ScanContext } from './context.ts'

/** Of what was scanned by which rules. */
function digestRun({ scan, run, digest }: ActiveRun, head: string | undefined): string {
  const { namespace, name } = scan.metadata
  const parts = [namespace, name, run.mode, run.baseCommit, head, scan.spec.subPath, digest, scannerPolicyVersion]
  return `scanidem:${createHash('sha256').update(parts.join('\0')).digest('hex')}`
}

export async function startRun(context: ScanContext, active: ActiveRun): Promise<boolean> {
  const { scan, run, digest } = active
  const { commit, branch } = await context.trees.open(context, scan, run, context.signal)
  const { ref } = scan.spec
  await changeRun(context, active, {
    phase: 'running',
    stage: 'threat-model',
    headCommit: commit,
    branch: branch ?? (ref === undefined ? undefined : `ref:${ref}`),
    policyDigest: digest,
    idempotencyKey: digestRun(active, commit),
  })
  return true
}
