// When a run starts by itself: at first, by the schedule, and later and later after failures.
import type { RunMode } from '../../contract/api/scans/runs.ts'
import type { RepositoryScanSpec, RepositoryScanStatus } from '../../contract/kinds/scans/repository-scan.ts'
import { type Backoff, maxDelayMs } from '../../lib/backoff.ts'
import { decideSchedule } from '../tasks/schedule.ts'

export type RunDecision =
  | { action: 'start'; mode: RunMode }
  | { action: 'suspended' }
  | { action: 'invalid'; message: string }
  /** `until`: absent: nothing starts by itself. */
  | { action: 'wait'; until?: Date }

/** How long no scheduled run starts after failures in a row. */
export const runBackoff: Backoff = { firstMs: 10 * 60_000, maxMs: 24 * 3600_000 }

/** What changed since the last good run is looked at alone only while that is recent. */
function isStale(
  { historyDays }: RepositoryScanSpec,
  { lastSuccessfulScanAt }: RepositoryScanStatus,
  now: Date,
): boolean {
  if (lastSuccessfulScanAt === undefined) return true
  return now.getTime() - Date.parse(lastSuccessfulScanAt) > historyDays * 24 * 3600_000
}

/** However late it is noticed. */
const noDeadline = Number.MAX_SAFE_INTEGER / 1000

type Facts = { createdAt: Date; status: RepositoryScanStatus | undefined }

function decideTick(spec: RepositoryScanSpec, { createdAt, status = {} }: Facts, now: Date): RunDecision {
  const { lastScanAt, lastProcessedCommit, failedRuns = 0 } = status
  const { schedule = '', timeZone } = spec
  const lastTick = lastScanAt === undefined ? undefined : new Date(lastScanAt)
  const timing = { schedule, timeZone, startingDeadlineSeconds: noDeadline, concurrencyPolicy: 'Allow' } as const
  const decision = decideSchedule({ ...timing, suspend: false }, { createdAt, lastTick, hasActiveRun: false }, now)
  if (decision.action === 'invalid') return decision
  const rested = new Date((lastTick ?? createdAt).getTime() + maxDelayMs(runBackoff, failedRuns))
  if (decision.action === 'wait') return waitUntil(decision.next && laterOf(decision.next, rested))
  if (rested > now) return waitUntil(rested)
  const isWhole = lastProcessedCommit === undefined || isStale(spec, status, now)
  return { action: 'start', mode: isWhole ? 'initial' : 'incremental' }
}

const laterOf = (one: Date, other: Date) => (one > other ? one : other)

function waitUntil(until: Date | undefined): RunDecision {
  return until === undefined ? { action: 'wait' } : { action: 'wait', until }
}

/** What starts now, while no run is active. */
export function decideRun(spec: RepositoryScanSpec, facts: Facts, now: Date): RunDecision {
  if (spec.suspend) return { action: 'suspended' }
  if (facts.status?.lastScanID === undefined) return { action: 'start', mode: 'initial' }
  return spec.schedule === undefined ? { action: 'wait' } : decideTick(spec, facts, now)
}
