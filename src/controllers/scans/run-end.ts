// How runs end: what they leave in the record and on the scan.
import type { RepositoryScan, RepositoryScanStatus } from '../../contract/kinds/scans/repository-scan.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { ReviewSlice, ScanRun } from '../../ports/scans/scans.ts'
import { scanLabels } from '../../rules/scans/task-names.ts'
import type { ActiveRun } from './active-run.ts'
import type { ScanContext } from './context.ts'
import { closeGoneOfRun } from './gone-code.ts'
import { writeScanStatus } from './status.ts'
import { cancelTask, listRunTasks, sumUsage } from './tasks.ts'
import { chooseValidations } from './validations.ts'

const longestMessage = 32_768

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
  const used = sumUsage(await listRunTasks(context, scan, run.id))
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
export async function failRun(
  context: ScanContext,
  active: Pick<ActiveRun, 'scan' | 'run'>,
  { reason, message }: { reason: string; message: string },
): Promise<void> {
  const { scan, run } = active
  const fresh = (await context.records.scans.getRun(scan.metadata.uid, run.id)) ?? run
  for (const task of await listRunTasks(context, scan, run.id))
    if (isOfPipeline(task)) await cancelTask(context, task, `its run ended: ${reason}`)
  const failed =
    fresh.stage === 'start' || fresh.stage === 'threat-model' ? [] : await listFailed(context, scan.metadata.uid)
  const errorMessage = message.slice(0, longestMessage)
  const failedSlices = failed.map(({ id }) => id)
  await endRun(context, { scan, run: fresh }, { phase: 'failed', reason, errorMessage, failedSlices })
}

/** All slices are done with: the run succeeded when none of them failed. */
export async function finishRun(context: ScanContext, active: ActiveRun): Promise<boolean> {
  const { scan, run } = active
  await chooseValidations(context, active)
  const failed = await listFailed(context, scan.metadata.uid)
  const failedSlices = failed.map(({ id }) => id)
  if (failed.length === 0) {
    await closeGoneOfRun(context, active)
    await endRun(context, active, { phase: 'succeeded' })
  } else {
    const errorMessage = describeFailed(failed, run.sliceCount).slice(0, longestMessage)
    await endRun(context, active, { phase: 'failed', reason: 'SlicesFailed', errorMessage, failedSlices })
  }
  return false
}
