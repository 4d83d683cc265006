// One step of an active run: its records and tasks are its only state, so that it goes on wherever it was interrupted.

import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { readPolicies } from '../../lookup/scan-policies.ts'
import type { ScanRun } from '../../ports/scans/scans.ts'
import type { ActiveRun } from './active-run.ts'
import { RunFailure, type ScanContext } from './context.ts'
import { reviewSlices } from './reviews.ts'
import { failRun, finishRun } from './run-end.ts'
import { startRun } from './run-start.ts'
import { writeThreatModel } from './threat-model.ts'

async function readRunPolicies({ configMaps }: ScanContext, scan: RepositoryScan, run: ScanRun) {
  const { policies, digest } = await readPolicies(configMaps, scan.metadata.namespace, scan.spec).catch((error) => {
    if (!isSvcError(error, 'InvalidRequest')) throw error
    throw new RunFailure('PolicyUnusable', error.message, { cause: error })
  })
  if (run.policyDigest === undefined || run.policyDigest === digest) return { policies, digest }
  throw new RunFailure('PolicyChanged', 'the policies of the scan changed during the run: start another one')
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
    if (!(error instanceof RunFailure)) throw error
    await failRun(context, { scan, run }, { reason: error.reason, message: messageOf(error) })
    return false
  }
}

/** Goes on with the run until it waits for tasks or has ended. */
export async function advanceRun(context: ScanContext, scan: RepositoryScan, first: ScanRun): Promise<void> {
  let run: ScanRun | undefined = first
  while (run !== undefined && !context.signal.aborted && (await takeStep(context, scan, run)))
    run = await context.records.scans.activeRun(scan.metadata.uid)
}
