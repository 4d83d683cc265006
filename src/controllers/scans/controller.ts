// Repository scans: begins runs, leads them through their stages, and decides validations and patches.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isTerminalPhase } from '../../contract/kinds/tasks/task.ts'
import { maxTimerMs } from '../../lib/clock.ts'
import { decideRun, type RunDecision } from '../../rules/scans/run-decision.ts'
import { scanLabels } from '../../rules/scans/task-names.ts'
import {
  type Controller,
  createListenerSource,
  createTimerSource,
  defineController,
  formatKey,
  type KeySource,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { createKindSource, createOwnedTaskSource, type OwnedTasks } from '../engine/kind-source.ts'
import { uploadFindings, watchPullRequests } from './code-host.ts'
import { type ScanContext, type ScanControllerDeps, scanKeyOf } from './context.ts'
import { takeImport } from './imports.ts'
import { decidePatches } from './patches.ts'
import { advanceRun } from './run.ts'
import { describeScan } from './status.ts'
import { createTreeCache } from './trees.ts'
import { decideValidations } from './validations.ts'

/** Tasks that were changed where no watch saw it are looked at again. */
const watchIntervalMs = 30_000

async function beginRun(context: ScanContext, scan: RepositoryScan): Promise<RunDecision> {
  const createdAt = new Date(scan.metadata.creationTimestamp)
  const decision = decideRun(scan.spec, { createdAt, status: scan.status }, context.clock.now())
  if (decision.action !== 'start') return decision
  const baseCommit = scan.status?.lastProcessedCommit
  const id = `scan_${context.ids.hex(12)}`
  const run = await context.records.scans.startRun(scanKeyOf(scan), { id, mode: decision.mode, baseCommit })
  await describeScan(context, scan, decision)
  await advanceRun(context, scan, run)
  return decision
}

/** How soon somebody who closes or merges a pull request sees it here. */
const pullRequestsMs = 60_000

/** How soon an upload is asked after. */
const uploadMs = 2000

/** The first of these times. */
function waitUntil(times: readonly (Date | undefined)[], now: Date): Reconciled {
  const waits = times.flatMap((time) => (time === undefined ? [] : [time.getTime() - now.getTime()]))
  if (waits.length === 0) return undefined
  return { requeueAfterMs: Math.min(maxTimerMs, Math.max(1000, Math.min(...waits))) }
}

/** What comes next of a scan that does nothing now: a run, the end of a dismissal, a look at pull requests. */
async function waitIdly(context: ScanContext, scan: RepositoryScan, decision: RunDecision): Promise<Reconciled> {
  const open = await watchPullRequests(context, scan)
  const isUploading = await uploadFindings(context, scan)
  const now = context.clock.now()
  return waitUntil(
    [
      decision.action === 'wait' ? decision.until : undefined,
      await context.records.findings.nextDismissalEnd(scan.metadata.uid),
      open > 0 ? new Date(now.getTime() + pullRequestsMs) : undefined,
      isUploading ? new Date(now.getTime() + uploadMs) : undefined,
    ],
    now,
  )
}

async function reconcileScan(context: ScanContext, key: string): Promise<Reconciled> {
  const scan = await context.resources.get('RepositoryScan', parseKey(key))
  if (scan === undefined || scan.metadata.deletionTimestamp !== undefined) return undefined
  const { scans, findings } = context.records
  const { uid } = scan.metadata
  await findings.endDismissals(uid, context.clock.now())
  await takeImport(context, scan)
  const run = await scans.activeRun(uid)
  if (run !== undefined) await advanceRun(context, scan, run)
  const decision = run === undefined ? await beginRun(context, scan) : undefined
  const isWorking = (await decideValidations(context, scan)) + (await decidePatches(context, scan)) > 0
  await describeScan(context, scan, decision)
  const isActive = isWorking || (await scans.activeRun(uid)) !== undefined
  if (isActive) return { requeueAfterMs: watchIntervalMs }
  // A run that has just ended: the schedule is asked again.
  return decision?.action === 'start' || decision === undefined
    ? { requeueAfterMs: 1000 }
    : waitIdly(context, scan, decision)
}

const ownedTasks: OwnedTasks = {
  ownerLabel: scanLabels.scan,
  concerns: ({ type, object }) => type === 'DELETED' || isTerminalPhase(object.status?.phase),
}

function listSources(deps: ScanControllerDeps): KeySource[] {
  const { resources, clock, records } = deps
  return [
    createKindSource({
      kind: 'RepositoryScan',
      resources,
      clock,
      onObject: ({ object }, enqueue) => enqueue(formatKey(object.metadata)),
    }),
    createOwnedTaskSource(deps, ownedTasks),
    createListenerSource('requests of scans', (enqueue) =>
      records.scans.onRequest((scan) => {
        if (scan !== undefined) return enqueue(formatKey(scan))
        void resources.list('RepositoryScan', {}).then(
          ({ items }) => items.forEach(({ metadata }) => void enqueue(formatKey(metadata))),
          () => undefined,
        )
      }),
    ),
  ]
}

const sweepMs = 3600_000
const sweepKey = 'sweep'

/** Records of scans that there are no more. */
async function sweepRecords({ resources, records }: ScanControllerDeps, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  do {
    const uids = await records.scans.scanUids(after, 100)
    for (const uid of uids) {
      const { items } = await resources.list('RepositoryScan', { fields: { uid }, limit: 1 })
      if (items.length === 0) await records.scans.removeScan(uid)
    }
    after = uids.at(-1)
  } while (after !== undefined && !signal.aborted)
}

function createRecordController(deps: ScanControllerDeps): Controller {
  const { resources, records, clock } = deps
  const times = { firstMs: 60_000, intervalMs: sweepMs }
  return defineController({
    name: 'records of scans',
    sources: [
      createKindSource({
        kind: 'RepositoryScan',
        resources,
        clock,
        onObject({ type, object }, enqueue) {
          if (type === 'DELETED') enqueue(object.metadata.uid)
        },
      }),
      createTimerSource(sweepKey, times, (ms, signal) => clock.sleep(ms, signal)),
    ],
    concurrency: 1,
    async reconcile(key, signal) {
      if (key === sweepKey) await sweepRecords(deps, signal)
      else await records.scans.removeScan(key)
      return undefined
    },
  })
}

export function createScanControllers(deps: ScanControllerDeps): Controller[] {
  const trees = createTreeCache()
  const scans = defineController({
    name: 'scans',
    sources: listSources(deps),
    concurrency: 2,
    begin: () => trees.clear(),
    reconcile: (key, signal) => reconcileScan({ ...deps, trees, signal }, key),
  })
  return [scans, createRecordController(deps)]
}
