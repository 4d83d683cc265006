// The run that is under way: executes it, ends it, or waits until the code host takes requests again.
import { messageOf } from '../../errors.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { MonitorKey, MonitorRun } from '../../ports/monitors/monitor-records.ts'
import { passOver } from './inventory.ts'
import { type MonitorDeps, type MonitorWork, retryMs } from './settings.ts'

/** A run that gets nowhere for so long has failed; the time in which the code host asked to wait does not count. */
const longestRunMs = 1_800_000

type Failure = { error: string; reason?: string | undefined }

export async function failRun(
  { records, clock }: MonitorDeps,
  key: MonitorKey,
  run: MonitorRun,
  { error, reason }: Failure,
): Promise<void> {
  const completedAt = clock.now().toISOString()
  await records.monitors.changeRun(key, run.id, { phase: 'failed', error, completedAt, heldUpUntil: undefined })
  const metadata = reason === undefined ? {} : { metadata: { reason } }
  await records.monitors.append(key, {
    runID: run.id,
    eventType: 'run_failed',
    actor: 'controller',
    summary: error,
    ...metadata,
  })
}

/** Milliseconds until it is looked at again; undefined: it has ended. */
async function holdUp({ deps, key }: MonitorWork, run: MonitorRun, error: unknown): Promise<number | undefined> {
  const { records, clock } = deps
  const now = clock.now()
  if (isCodeHostError(error, 'HeldUp')) {
    const until = error.heldUpUntil ?? new Date(now.getTime() + retryMs).toISOString()
    await records.monitors.changeRun(key, run.id, { heldUpUntil: until })
    const summary = `Held up until ${until}: ${error.message}`
    await records.monitors.append(key, {
      runID: run.id,
      eventType: 'run_held_up',
      actor: 'controller',
      summary,
      metadata: { until },
    })
    return Math.max(0, Date.parse(until) - now.getTime())
  }
  const since = Date.parse(run.heldUpUntil ?? run.startedAt ?? run.queuedAt)
  if (isCodeHostError(error, 'Unreachable') && now.getTime() - since < longestRunMs) return retryMs
  const reason = isCodeHostError(error, 'Unreachable') ? 'stale_running_run' : undefined
  await failRun(deps, key, run, { error: messageOf(error), reason })
  return undefined
}

async function succeed(
  { deps, key, monitor }: MonitorWork,
  run: MonitorRun,
  counts: { selected: number; skipped: number },
): Promise<void> {
  const { records, clock } = deps
  const { commands = [], mode } = monitor.spec.validation
  const perReview = mode !== 'off' && commands.length > 0 ? 2 : 1
  const createdTaskCount = counts.selected * perReview
  await records.monitors.changeRun(key, run.id, {
    phase: 'succeeded',
    completedAt: clock.now().toISOString(),
    heldUpUntil: undefined,
    selectedCount: counts.selected,
    skippedCount: counts.skipped,
    createdTaskCount,
  })
  await records.monitors.append(key, {
    runID: run.id,
    eventType: 'run_succeeded',
    actor: 'controller',
    summary: `${counts.selected} pull requests are to be reviewed, ${counts.skipped} were left`,
    metadata: { selected: counts.selected, createdTasks: createdTaskCount, skipped: counts.skipped },
  })
}

/**
 * Executes the run; one that the end of the service cut off goes on where it was. Milliseconds until it is looked at again;
 * undefined: it has ended.
 */
export async function executeRun(work: MonitorWork, run: MonitorRun): Promise<number | undefined> {
  const now = work.deps.clock.now().getTime()
  const waitMs = run.heldUpUntil === undefined ? 0 : Date.parse(run.heldUpUntil) - now
  if (waitMs > 0) return waitMs
  try {
    await succeed(work, run, await passOver(work, run))
    return undefined
  } catch (error) {
    return holdUp(work, run, error)
  }
}
