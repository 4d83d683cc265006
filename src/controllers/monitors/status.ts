// What a monitor says of itself: counts of what it knows, its last runs, and whether it can work.
import type { RepositoryMonitor, RepositoryMonitorStatus } from '../../contract/kinds/monitors/repository-monitor.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { MonitorKey, MonitorRun } from '../../ports/monitors/monitors.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import { writeResourceStatus } from '../resources/status.ts'
import type { MonitorDeps } from './settings.ts'

/** What this step has found out. */
export type Outlook = {
  /** Why it cannot work. */
  problem?: { reason: string; message: string }
  branch?: string
  next?: string
  heldUpUntil?: string
}

function describeReady(monitor: RepositoryMonitor, { problem, heldUpUntil }: Outlook, last: MonitorRun | undefined) {
  if (problem !== undefined) return { status: 'False' as const, ...problem }
  if (monitor.spec.suspend) {
    return {
      // Held back on purpose, which is no fault of it.
      status: 'True' as const,
      reason: 'Suspended',
      message: 'no runs start by themselves until spec.suspend is false',
    }
  }
  if (heldUpUntil !== undefined) {
    const message = `Held up until ${heldUpUntil}: the code host takes no more requests before`
    return { status: 'True' as const, reason: 'HeldUp', message }
  }
  if (last?.phase === 'failed') {
    return { status: 'False' as const, reason: 'RunFailed', message: last.error ?? 'the last run failed' }
  }
  if (last?.phase === 'succeeded') {
    return { status: 'True' as const, reason: 'RunSucceeded', message: `run ${last.id} succeeded` }
  }
  if (last !== undefined)
    return { status: 'True' as const, reason: 'RunQueued', message: `run ${last.id} is ${last.phase}` }
  return {
    status: 'True' as const,
    reason: 'MetadataRecorded',
    message: 'the monitor is ready; no run has started yet',
  }
}

function phaseOf(monitor: RepositoryMonitor, isReady: boolean, { problem }: Outlook): RepositoryMonitorStatus['phase'] {
  if (problem !== undefined) return 'Error'
  if (monitor.spec.suspend) return 'Suspended'
  return isReady ? 'Ready' : 'Error'
}

export async function writeMonitorStatus(
  { resources, records, clock }: MonitorDeps,
  monitor: RepositoryMonitor,
  key: MonitorKey,
  outlook: Outlook,
): Promise<void> {
  const [last] = await records.monitors.listRuns(key, { limit: 1 })
  const recent = await records.monitors.listRuns(key, { limit: 50 })
  const succeeded = recent.find(({ phase }) => phase === 'succeeded')
  const { open, pending, blocked, skipped } = await records.monitors.countItems(key)
  const ready = describeReady(monitor, outlook, last)
  const status = {
    phase: phaseOf(monitor, ready.status === 'True', outlook),
    branch: outlook.branch ?? monitor.status?.branch,
    heldUpUntil: outlook.heldUpUntil,
    lastRunID: last?.id,
    lastRunTime: last?.startedAt ?? last?.queuedAt,
    lastSuccessfulRunTime: succeeded?.completedAt ?? monitor.status?.lastSuccessfulRunTime,
    nextRunTime: outlook.next,
    openPullRequests: open,
    pendingReviews: pending,
    activeRepairs: 0,
    blockedItems: blocked,
    skippedItems: skipped,
    mergeReadyItems: 0,
    conditions: setCondition(monitor.status?.conditions, { type: 'Ready', ...ready }, clock.now()),
  }
  await writeResourceStatus(resources, 'RepositoryMonitor', monitor, dropUndefined(status) as RepositoryMonitorStatus)
}
