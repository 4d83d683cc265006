// The status of a scan: what it does, what it has found, and how the last run ended.
import type { RepositoryScan, RepositoryScanStatus } from '../../contract/kinds/scans/repository-scan.ts'
import { isSvcError } from '../../errors.ts'
import type { ScanRun } from '../../ports/scans/scans.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import type { RunDecision } from '../../rules/scans/run-decision.ts'
import { writeResourceStatus } from '../resources/status.ts'
import type { ScanContext } from './context.ts'

type Stand = Pick<RepositoryScanStatus, 'phase' | 'message'> & { reason: string; status: 'True' | 'False' | 'Unknown' }

function describeStand(last: ScanRun | undefined, decision: RunDecision | undefined): Stand {
  if (last?.phase === 'pending' || last?.phase === 'running')
    return { phase: 'Scanning', reason: 'Scanning', status: 'Unknown', message: `run ${last.id} is ${last.phase}` }
  if (decision?.action === 'suspended')
    return {
      phase: 'Suspended',
      reason: 'Suspended',
      // Held back on purpose, which is no fault of it.
      status: 'True',
      message: 'suspended: runs start on request only',
    }
  if (decision?.action === 'invalid')
    return { phase: 'Error', reason: 'InvalidSchedule', status: 'False', message: decision.message }
  if (last === undefined) return { phase: 'Pending', reason: 'Pending', status: 'Unknown', message: 'no run yet' }
  if (last.phase === 'failed')
    return {
      phase: 'Error',
      reason: 'ScanFailed',
      status: 'False',
      message: last.errorMessage ?? 'the last run failed',
    }
  return { phase: 'Ready', reason: 'ScanSucceeded', status: 'True', message: last.summary ?? 'the last run succeeded' }
}

/** Changes some fields of the status; a scan that changed meanwhile is read again. */
export async function writeScanStatus(
  { resources }: ScanContext,
  scan: RepositoryScan,
  change: Partial<RepositoryScanStatus>,
): Promise<void> {
  const fresh = await resources.get('RepositoryScan', scan.metadata)
  if (fresh === undefined || fresh.metadata.uid !== scan.metadata.uid) return
  try {
    await writeResourceStatus(resources, 'RepositoryScan', fresh, { ...fresh.status, ...change })
  } catch (error) {
    if (!isSvcError(error, 'Conflict')) throw error
    await writeScanStatus({ resources } as ScanContext, scan, change)
  }
}

/** What can be reported of the scan now. */
export async function describeScan(context: ScanContext, scan: RepositoryScan, decision: RunDecision | undefined) {
  const { scans, findings } = context.records
  const { uid } = scan.metadata
  const [last] = (await scans.listRuns(uid, { limit: 1 })).items
  const { reason, status, ...stand } = describeStand(last, decision)
  const model = await scans.getThreatModel(uid)
  const change = { type: 'Ready', status, reason, message: (stand.message ?? '').slice(0, 32_768) }
  const next = decision?.action === 'wait' ? decision.until?.toISOString() : undefined
  await writeScanStatus(context, scan, {
    ...stand,
    nextScanAt: next,
    lastScanID: last?.id,
    threatModelVersion: model?.version,
    findingCounts: await findings.count(uid),
    conditions: setCondition(scan.status?.conditions, change, context.clock.now()),
  })
}
