// Runs of a monitor: queued by the schedule, begun with a repository, executed until the code host takes no more requests.
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { type Backoff, maxDelayMs } from '../../lib/backoff.ts'
import { openCodeHost } from '../../lookup/logins.ts'
import { findUnfitness, monitoredRepository } from '../../lookup/monitor-fitness.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import type { MonitorKey, MonitorRun } from '../../ports/monitors/monitors.ts'
import { nameScheduledMonitorRun } from '../../rules/monitors/events.ts'
import { decideSchedule } from '../../rules/tasks/schedule.ts'
import { passOver } from './inventory.ts'
import { lookAgainMs, type MonitorDeps, type MonitorWork, retryMs } from './settings.ts'
import type { Outlook } from './status.ts'

/** A run that gets nowhere for so long has failed; the time in which the code host asked to wait does not count. */
const maxRunMs = 1_800_000

type Failure = { error: string; reason?: string | undefined }

async function failMonitorRun(
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
async function waitOrFail({ deps, key }: MonitorWork, run: MonitorRun, error: unknown): Promise<number | undefined> {
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
  if (isCodeHostError(error, 'Unreachable') && now.getTime() - since < maxRunMs) return retryMs
  const reason = isCodeHostError(error, 'Unreachable') ? 'stale_running_run' : undefined
  await failMonitorRun(deps, key, run, { error: messageOf(error), reason })
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
    return waitOrFail(work, run, error)
  }
}

async function findBranch({ spec, status }: RepositoryMonitor, host: MonitorWork['host']): Promise<string> {
  if (spec.branch !== undefined) return spec.branch
  // Asked again at each run: a default branch may be renamed.
  return (await host.getRepository()).defaultBranch ?? status?.branch
}

type Begun = { work: MonitorWork } | { outlook: Outlook; waitMs: number }

/** Why it cannot work at all; asked of what the service itself knows. */
export async function findProblem(
  deps: MonitorDeps,
  { spec, metadata }: RepositoryMonitor,
): Promise<Outlook['problem']> {
  const { namespace } = metadata
  const context = { ...deps, hosts: deps.codeHosts.hosts, isolateNamespaces: deps.settings.isolateNamespaces }
  const unfit = await findUnfitness(context, { namespace, spec })
  const message = unfit.map(({ path, message: why }) => `spec.${path} ${why}`).join('; ')
  return unfit[0] && { reason: unfit[0].reason, message }
}

/** What a step works with; otherwise why it cannot, after which the runs that wait have failed or wait on. */
export async function begin(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey): Promise<Begun> {
  const problem = await findProblem(deps, monitor)
  const repository = monitoredRepository(monitor.spec, deps.codeHosts.hosts)
  if (problem !== undefined || repository === undefined) {
    await failWaiting(deps, key, problem?.message ?? '')
    return { outlook: problem === undefined ? {} : { problem }, waitMs: lookAgainMs }
  }
  const { gitSecretRef } = monitor.spec
  const secret = gitSecretRef && { namespace: key.namespace, name: gitSecretRef.name }
  const host = openCodeHost(deps, { secret, repository, owner: 'spec.gitSecretRef' })
  try {
    return { work: { deps, monitor, key, repository, host, branch: await findBranch(monitor, host) } }
  } catch (error) {
    if (!isSvcError(error)) throw error
    return cannotAsk(deps, key, error)
  }
}

/** The code host does not say which branch it is. */
async function cannotAsk(deps: MonitorDeps, key: MonitorKey, error: Error): Promise<Begun> {
  if (isCodeHostError(error, 'HeldUp')) {
    const heldUpUntil = error.heldUpUntil ?? new Date(deps.clock.now().getTime() + retryMs).toISOString()
    return { outlook: { heldUpUntil }, waitMs: Math.max(1000, Date.parse(heldUpUntil) - deps.clock.now().getTime()) }
  }
  if (isCodeHostError(error, 'Unreachable')) {
    return { outlook: { problem: { reason: 'CodeHostUnreachable', message: error.message } }, waitMs: retryMs }
  }
  await failWaiting(deps, key, error.message)
  return { outlook: { problem: { reason: 'RunFailed', message: error.message } }, waitMs: lookAgainMs }
}

async function failWaiting(deps: MonitorDeps, key: MonitorKey, message: string): Promise<void> {
  for (
    let run = await deps.records.monitors.takeRun(key);
    run !== undefined;
    run = await deps.records.monitors.takeRun(key)
  ) {
    await failMonitorRun(deps, key, run, { error: message })
  }
}

const activeRetryMs = 15_000
const backoff: Backoff = { firstMs: 60_000, maxMs: 86_400_000 }
const maxFailures = 12

/** When a schedule whose last runs failed may start the next one. */
async function findEarliest({ records }: MonitorDeps, key: MonitorKey): Promise<number> {
  const runs = await records.monitors.listRuns(key, { limit: maxFailures, trigger: 'schedule' })
  const ended = runs.filter(({ phase }) => phase === 'failed' || phase === 'succeeded')
  const succeededAt = ended.findIndex(({ phase }) => phase === 'succeeded')
  const failures = succeededAt === -1 ? ended.length : succeededAt
  const last = ended[0]?.completedAt
  return failures === 0 || last === undefined ? 0 : Date.parse(last) + maxDelayMs(backoff, failures)
}

async function findLastTick({ records }: MonitorDeps, key: MonitorKey): Promise<Date | undefined> {
  const [last] = await records.monitors.listRuns(key, { limit: 1, trigger: 'schedule' })
  return last && new Date(last.queuedAt)
}

type Scheduled = { next?: string; waitMs?: number; problem?: string }

/** Queues the run that is due; says when the next one is. */
export async function queueDueRun(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey): Promise<Scheduled> {
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
  const id = nameScheduledMonitorRun(key, decision.tick)
  const summary = `a run was due at ${decision.tick.toISOString()}`
  await deps.records.monitors.queueRun(
    key,
    { id, trigger: 'schedule' },
    { runID: id, eventType: 'run_queued', actor: 'controller', summary },
  )
  return { ...until }
}
