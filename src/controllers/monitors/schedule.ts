// Scheduled runs: due by the cron expression in its time zone, later after runs that failed.
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import type { MonitorKey } from '../../ports/monitors/monitor-records.ts'
import { nameScheduledRun } from '../../rules/monitors/events.ts'
import { retryDelayMs } from '../../rules/monitors/selection.ts'
import { decideSchedule } from '../../rules/tasks/schedule.ts'
import type { MonitorDeps } from './settings.ts'

const activeRetryMs = 15_000
const firstBackoffMs = 60_000
const mostFailures = 12

/** When a schedule whose last runs failed may start the next one. */
async function findEarliest({ records }: MonitorDeps, key: MonitorKey): Promise<number> {
  const runs = await records.monitors.listRuns(key, { limit: mostFailures, trigger: 'schedule' })
  const ended = runs.filter(({ phase }) => phase === 'failed' || phase === 'succeeded')
  const succeededAt = ended.findIndex(({ phase }) => phase === 'succeeded')
  const failures = succeededAt === -1 ? ended.length : succeededAt
  const last = ended[0]?.completedAt
  return failures === 0 || last === undefined ? 0 : Date.parse(last) + retryDelayMs(failures, firstBackoffMs)
}

async function findLastTick({ records }: MonitorDeps, key: MonitorKey): Promise<Date | undefined> {
  const [last] = await records.monitors.listRuns(key, { limit: 1, trigger: 'schedule' })
  return last && new Date(last.queuedAt)
}

export type Scheduled = { next?: string; waitMs?: number; problem?: string }

/** Queues the run that is due; says when the next one is. */
export async function runSchedule(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey): Promise<Scheduled> {
  const { schedule, timeZone, suspend } = monitor.spec
  if (schedule === undefined || suspend) return {}
  const now = deps.clock.now()
  const decision = decideSchedule(
    { schedule, timeZone, suspend, concurrencyPolicy: 'Allow', startingDeadlineSeconds: Number.MAX_SAFE_INTEGER },
    {
      createdAt: new Date(monitor.metadata.creationTimestamp),
      lastTick: await findLastTick(deps, key),
      hasActiveRun: false,
    },
    now,
  )
  if (decision.action === 'invalid') return { problem: decision.message }
  const next = 'next' in decision ? decision.next : undefined
  const until = next && { next: next.toISOString(), waitMs: Math.max(0, next.getTime() - now.getTime()) }
  if (decision.action !== 'run') return { ...until }
  const earliest = await findEarliest(deps, key)
  if (earliest > now.getTime()) return { next: new Date(earliest).toISOString(), waitMs: earliest - now.getTime() }
  if (await deps.records.monitors.hasActiveRun(key)) return { ...until, waitMs: activeRetryMs }
  // Another replica may look at the same time: the same tick is the same run.
  const id = nameScheduledRun(key, decision.tick)
  const summary = `a run was due at ${decision.tick.toISOString()}`
  await deps.records.monitors.queueRun(
    key,
    { id, trigger: 'schedule' },
    { runID: id, eventType: 'run_queued', actor: 'controller', summary },
  )
  return { ...until }
}
