// One step of an active run: its records and tasks are its only state, so that it goes on wherever it was interrupted.
import { createHash } from 'node:crypto'
import { scannerPolicyVersion } from '../../contract/api/scans/runs.ts'
import type { RepositoryScan, RepositoryScanStatus } from '../../contract/kinds/scans/repository-scan.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { readPolicies } from '../../lookup/scans.ts'
import type { ReviewSlice, ScanRun } from '../../ports/scans/scans.ts'
import { scanLabels } from '../../rules/scans/task-names.ts'
import { type ActiveRun, changeRun, type ScanContext, ScanRunFailure } from './context.ts'
import { closeGoneOfRun } from './gone-code.ts'
import { reviewSlices } from './reviews.ts'
import { writeScanStatus } from './status.ts'
import { cancelScanTask, listRunTasks, sumTaskUsage } from './tasks.ts'
import { writeThreatModel } from './threat-model.ts'
import { chooseValidations } from './validations.ts'

/** Of what was scanned by which rules. */
function digestRun({ scan, run, digest }: ActiveRun, head: string | undefined): string {
  const { namespace, name } = scan.metadata
  const parts = [namespace, name, run.mode, run.baseCommit, head, scan.spec.subPath, digest, scannerPolicyVersion]
  return `scanidem:${createHash('sha256').update(parts.join('\0')).digest('hex')}`
}

async function startRun(context: ScanContext, active: ActiveRun): Promise<boolean> {
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

const maxMessageLength = 32_768

async function listFailed({ records }: ScanContext, uid: string): Promise<ReviewSlice[]> {
  return (await records.scans.listSlices(uid, { status: 'failed', limit: 500 })).items
}

function describeFailed(failed: readonly ReviewSlice[], count: number): string {
  const shown = failed.slice(0, 5).map(({ id, title, error }) => `${id} (${title}): ${error ?? 'failed'}`)
  return `${failed.length} of ${count} slices failed; retry them alone with retryFailed. ${shown.join('; ')}`
}

type Ended = Pick<ScanRun, 'phase'> & { reason?: string; errorMessage?: string; failedSlices?: string[] }

/** Records the end; the status of the scan first, so that a crash in between repeats both. */
async function endRun(context: ScanContext, { scan, run }: Pick<ActiveRun, 'scan' | 'run'>, ended: Ended) {
  const { uid } = scan.metadata
  const now = context.clock.now().toISOString()
  const totals = await context.records.scans.reviewTotals(uid, run.id)
  const used = sumTaskUsage(await listRunTasks(context, scan, run.id))
  const summary = `${totals.reviews} of ${run.sliceCount} slices reviewed, ${totals.accepted} findings, ${totals.dropped} dropped`
  const counts = {
    reviewedSliceCount: totals.reviews,
    acceptedFindings: totals.accepted,
    droppedFindings: totals.dropped,
  }
  const final = { ...run, ...ended, ...counts, ...used, summary, completedAt: now }
  await writeScanStatus(context, scan, statusAfter(scan, final))
  await context.records.scans.changeRun(uid, run.id, final)
  await context.trees.close(uid)
}

function statusAfter({ status }: RepositoryScan, run: ScanRun): Partial<RepositoryScanStatus> {
  const isGood = run.phase === 'succeeded'
  const seen = run.headCommit === undefined ? {} : { lastObservedHeadSHA: run.headCommit }
  const name = run.taskName === undefined ? {} : { lastScanTaskName: run.taskName }
  const always = { lastScanID: run.id, lastScanAt: run.completedAt, branch: run.branch, ...seen, ...name }
  if (!isGood) return { ...always, failedRuns: countFailures(status, run) }
  return { ...always, failedRuns: 0, lastSuccessfulScanAt: run.completedAt, lastProcessedCommit: run.headCommit }
}

/** Once for each run, however often its end is written. */
function countFailures(status: RepositoryScanStatus | undefined, run: ScanRun): number {
  const { lastScanID, lastScanAt, failedRuns = 0 } = status ?? {}
  const isCounted = lastScanID === run.id && lastScanAt !== undefined && lastScanAt >= run.startedAt
  return isCounted ? failedRuns : failedRuns + 1
}

/** Validations and patches were asked for apart from it. */
function isOfPipeline({ metadata: { labels } }: Task): boolean {
  const stage = labels?.[scanLabels.stage]
  return stage === 'threat-model' || stage === 'review'
}

/** Ends the run; what it has found stays, and its tasks are stopped. */
async function failScanRun(
  context: ScanContext,
  active: Pick<ActiveRun, 'scan' | 'run'>,
  { reason, message }: { reason: string; message: string },
): Promise<void> {
  const { scan, run } = active
  const fresh = (await context.records.scans.getRun(scan.metadata.uid, run.id)) ?? run
  for (const task of await listRunTasks(context, scan, run.id))
    if (isOfPipeline(task)) await cancelScanTask(context, task, `its run ended: ${reason}`)
  const failed =
    fresh.stage === 'start' || fresh.stage === 'threat-model' ? [] : await listFailed(context, scan.metadata.uid)
  const errorMessage = message.slice(0, maxMessageLength)
  const failedSlices = failed.map(({ id }) => id)
  await endRun(context, { scan, run: fresh }, { phase: 'failed', reason, errorMessage, failedSlices })
}

/** All slices are done with: the run succeeded when none of them failed. */
async function finishRun(context: ScanContext, active: ActiveRun): Promise<boolean> {
  const { scan, run } = active
  await chooseValidations(context, active)
  const failed = await listFailed(context, scan.metadata.uid)
  const failedSlices = failed.map(({ id }) => id)
  if (failed.length === 0) {
    await closeGoneOfRun(context, active)
    await endRun(context, active, { phase: 'succeeded' })
  } else {
    const errorMessage = describeFailed(failed, run.sliceCount).slice(0, maxMessageLength)
    await endRun(context, active, { phase: 'failed', reason: 'SlicesFailed', errorMessage, failedSlices })
  }
  return false
}

async function readRunPolicies({ configMaps }: ScanContext, scan: RepositoryScan, run: ScanRun) {
  const { policies, digest } = await readPolicies(configMaps, scan.metadata.namespace, scan.spec).catch((error) => {
    if (!isSvcError(error, 'InvalidRequest')) throw error
    throw new ScanRunFailure('PolicyUnusable', error.message, { cause: error })
  })
  if (run.policyDigest === undefined || run.policyDigest === digest) return { policies, digest }
  throw new ScanRunFailure('PolicyChanged', 'the policies of the scan changed during the run: start another one')
}

/** True: there may be more to do at once; false: the run waits for tasks. */
type Stage = (context: ScanContext, active: ActiveRun) => Promise<boolean>

const stages: Record<ScanRun['stage'], Stage> = {
  start: startRun,
  'threat-model': writeThreatModel,
  review: reviewSlices,
  done: finishRun,
}

async function takeStep(context: ScanContext, scan: RepositoryScan, run: ScanRun): Promise<boolean> {
  try {
    const found = await readRunPolicies(context, scan, run)
    return await stages[run.stage](context, { scan, run, ...found })
  } catch (error) {
    if (!(error instanceof ScanRunFailure)) throw error
    await failScanRun(context, { scan, run }, { reason: error.reason, message: messageOf(error) })
    return false
  }
}

/** Goes on with the run until it waits for tasks or has ended. */
export async function advanceRun(context: ScanContext, scan: RepositoryScan, first: ScanRun): Promise<void> {
  let run: ScanRun | undefined = first
  while (run !== undefined && !context.signal.aborted && (await takeStep(context, scan, run)))
    run = await context.records.scans.activeRun(scan.metadata.uid)
}
