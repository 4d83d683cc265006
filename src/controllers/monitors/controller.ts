// Monitors: one step brings runs, reviews and publishings of a repository further, each from what is stored of it.
import { openCodeHost } from '../../catalog/code-host-login.ts'
import { findUnfitness, repositoryOf } from '../../catalog/monitor-fitness.ts'
import type { RepositoryMonitor } from '../../contract/resources/repository-monitor.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { isCodeHostError } from '../../ports/code-host.ts'
import type { ItemState, MonitorKey } from '../../ports/monitor-records.ts'
import { monitorLabel } from '../../rules/monitors/tasks.ts'
import { type Controller, createTimerSource, defineController, type Reconciled } from '../engine/controller.ts'
import { formatKey, parseKey } from '../engine/key.ts'
import { createKindSource } from '../engine/kind-source.ts'
import { ingestReview } from './ingest.ts'
import { publishReview } from './publish.ts'
import { advanceReview, isUnderWay, stopReview, type UnderWay } from './review-tasks.ts'
import { executeRun, failRun } from './run.ts'
import { runSchedule } from './schedule.ts'
import { type MonitorDeps, type MonitorWork, saveItem, tellItem } from './settings.ts'
import { type Outlook, writeMonitorStatus } from './status.ts'

/** In case that a change was missed. */
const lookAgainMs = 60_000
const idleMs = 600_000
const retryMs = 30_000
const sweepKey = '/'

async function drop(work: MonitorWork, item: UnderWay): Promise<ItemState> {
  const { runID } = item.progress
  const rest = await stopReview(work, item)
  const summary = `the head of pull request ${item.number} has moved; the review of ${item.headSHA} counts for nothing`
  const metadata = { reason: 'stale_head_sha', verdict: 'stale' }
  await tellItem(work, item, { runID, eventType: 'review_result_rejected', summary, metadata })
  return saveItem(work, { ...rest, lastVerdict: 'stale' })
}

async function bringFurther(work: MonitorWork, item: ItemState): Promise<ItemState> {
  if (!isUnderWay(item)) return item
  const step = await advanceReview(work, item)
  if (step === 'waiting') return item
  if (step === 'overtaken') return drop(work, item)
  const now = await work.deps.records.monitors.getItem(work.key, item.number)
  return ingestReview(work, now !== undefined && isUnderWay(now) ? now : item, step.ended)
}

function isPublishingDue({ deps }: MonitorWork, { progress, publishRetryAt, state }: ItemState): boolean {
  if (progress !== undefined || state !== 'open' || publishRetryAt === undefined) return false
  return publishRetryAt <= deps.clock.now().toISOString()
}

type Further = { heldUpUntil?: string | undefined; retry: boolean }

/** What keeps one pull request keeps no other. */
async function excuse(work: MonitorWork, item: ItemState, error: unknown): Promise<Further> {
  if (isCodeHostError(error, 'HeldUp')) return { retry: true, heldUpUntil: error.heldUpUntil }
  if (isCodeHostError(error, 'NotFound')) await giveUp(work, item, { reason: 'not_found', verdict: 'failed', error })
  if (isCodeHostError(error, 'TooLarge'))
    await giveUp(work, item, { reason: 'change_too_large', verdict: 'needs_human', error })
  const about = { monitor: formatKey(work.key), number: item.number, error: messageOf(error) }
  work.deps.log.warn(about, 'a review is tried again')
  return { retry: true }
}

async function bringOneFurther(work: MonitorWork, found: ItemState): Promise<Further> {
  try {
    const item = await bringFurther(work, found)
    const after = isPublishingDue(work, item) ? await publishReview(work, item) : item
    return { retry: after.publishRetryAt !== undefined }
  } catch (error) {
    return excuse(work, found, error)
  }
}

/** One after the other, until the code host takes no more requests. */
async function bringAllFurther(work: MonitorWork): Promise<Further> {
  let retry = false
  for (const found of await work.deps.records.monitors.listUnderWay(work.key)) {
    const further = await bringOneFurther(work, found)
    if (further.heldUpUntil !== undefined) return further
    retry ||= further.retry
  }
  return { retry }
}

type Resignation = { reason: string; verdict: 'failed' | 'needs_human'; error: Error }

/** The pull request is gone, or more than can be reviewed: this head is not tried again. */
async function giveUp(work: MonitorWork, item: ItemState, { reason, verdict, error }: Resignation): Promise<void> {
  const { publishRetryAt: _retryAt, lastPublishPhase: phase, ...rest } = await stopReview(work, item)
  const published = phase === undefined || phase === 'started' ? {} : { lastPublishPhase: phase }
  const { headSHA } = item
  await saveItem(work, {
    ...rest,
    ...published,
    ...(headSHA && { lastReviewedHeadSHA: headSHA }),
    lastVerdict: verdict,
  })
  const metadata = { reason, verdict }
  await tellItem(work, item, { eventType: 'review_result_rejected', summary: error.message, metadata })
}

async function findBranch({ spec, status }: RepositoryMonitor, host: MonitorWork['host']): Promise<string> {
  if (spec.branch !== undefined) return spec.branch
  // Asked again at each run: a default branch may be renamed.
  return (await host.getRepository()).defaultBranch ?? status?.branch
}

type Begun = { work: MonitorWork } | { outlook: Outlook; waitMs: number }

/** Why it cannot work at all; asked of what the service itself knows. */
async function findProblem(deps: MonitorDeps, { spec, metadata }: RepositoryMonitor): Promise<Outlook['problem']> {
  const { namespace } = metadata
  const asked = { ...deps, hosts: deps.codeHosts.hosts, isolateNamespaces: deps.settings.isolateNamespaces }
  const unfit = await findUnfitness(asked, { namespace, spec })
  const message = unfit.map(({ path, message: why }) => `spec.${path} ${why}`).join('; ')
  return unfit[0] && { reason: unfit[0].reason, message }
}

/** What a step works with; otherwise why it cannot, after which the runs that wait have failed or wait on. */
async function begin(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey): Promise<Begun> {
  const problem = await findProblem(deps, monitor)
  const repository = repositoryOf(monitor.spec, deps.codeHosts.hosts)
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
    await failRun(deps, key, run, { error: message })
  }
}

async function runAll(work: MonitorWork): Promise<number | undefined> {
  const { monitors } = work.deps.records
  for (let run = await monitors.takeRun(work.key); run !== undefined; run = await monitors.takeRun(work.key)) {
    if (run.heldUpUntil === undefined) {
      await monitors.append(work.key, { runID: run.id, eventType: 'run_started', actor: 'controller' })
    }
    const waitMs = await executeRun(work, run)
    if (waitMs !== undefined) return waitMs
  }
  return undefined
}

async function heldUpUntil({ deps, key }: MonitorWork): Promise<string | undefined> {
  const [run] = (await deps.records.monitors.listRuns(key, { limit: 20 })).filter(({ phase }) => phase === 'running')
  return run?.heldUpUntil
}

/** Nothing waits: what the service knows by itself is told, and nobody else is asked. */
async function rest(deps: MonitorDeps, monitor: RepositoryMonitor, key: MonitorKey, scheduled: Outlook): Promise<void> {
  const problem = scheduled.problem ?? (await findProblem(deps, monitor))
  await writeMonitorStatus(deps, monitor, key, { ...scheduled, ...(problem && { problem }) })
}

async function hasWork({ records: { monitors } }: MonitorDeps, key: MonitorKey): Promise<boolean> {
  return (await monitors.hasActiveRun(key)) || (await monitors.listUnderWay(key)).length > 0
}

/** Milliseconds until the next step. */
async function doWork(work: MonitorWork, scheduled: Outlook): Promise<number> {
  const runMs = (await runAll(work)) ?? lookAgainMs
  const further = await bringAllFurther(work)
  const held = (await heldUpUntil(work)) ?? further.heldUpUntil
  const outlook = { ...scheduled, branch: work.branch, ...(held && { heldUpUntil: held }) }
  await writeMonitorStatus(work.deps, work.monitor, work.key, outlook)
  return Math.min(runMs, further.retry ? retryMs : lookAgainMs)
}

async function reconcileMonitor(deps: MonitorDeps, monitor: RepositoryMonitor): Promise<Reconciled> {
  const { uid, namespace, name, generation } = monitor.metadata
  const key: MonitorKey = { uid, namespace, name }
  const { next, waitMs: tickMs = idleMs, problem } = await runSchedule(deps, monitor, key)
  const invalid = problem === undefined ? {} : { problem: { reason: 'InvalidSchedule', message: problem } }
  const scheduled: Outlook = { ...invalid, ...(next && { next }) }
  if (monitor.status?.observedGeneration === generation && !(await hasWork(deps, key))) {
    await rest(deps, monitor, key, scheduled)
    return { requeueAfterMs: Math.min(tickMs, idleMs) }
  }
  const begun = await begin(deps, monitor, key)
  if ('work' in begun) return { requeueAfterMs: Math.min(tickMs, await doWork(begun.work, scheduled)) }
  await writeMonitorStatus(deps, monitor, key, { ...scheduled, ...begun.outlook })
  return { requeueAfterMs: begun.waitMs }
}

/** Removes what monitors that no longer exist have kept. */
async function sweepRecords({ resources, records }: MonitorDeps): Promise<void> {
  const { items } = await resources.list('RepositoryMonitor', {})
  const living = new Set(items.map(({ metadata }) => metadata.uid))
  let after: string | undefined
  do {
    const uids = await records.monitors.monitorUids(after, 200)
    for (const uid of uids) if (!living.has(uid)) await records.monitors.removeMonitor(uid)
    after = uids.at(-1)
  } while (after !== undefined)
}

export function createMonitorController(deps: MonitorDeps): Controller {
  const { resources, clock } = deps
  const times = { firstMs: 0, intervalMs: 3_600_000 }
  return defineController({
    name: 'monitors',
    concurrency: 4,
    sources: [
      createKindSource({
        kind: 'RepositoryMonitor',
        resources,
        clock,
        onObject: ({ type, object }, enqueue) => enqueue(type === 'DELETED' ? sweepKey : formatKey(object.metadata)),
      }),
      createKindSource({
        kind: 'Task',
        resources,
        clock,
        onObject: ({ object: { metadata } }, enqueue) => {
          const name = metadata.labels?.[monitorLabel]
          if (name !== undefined) enqueue(formatKey({ namespace: metadata.namespace, name }))
        },
      }),
      createTimerSource(sweepKey, times, (ms, signal) => clock.sleep(ms, signal)),
    ],
    async reconcile(key) {
      if (key === sweepKey) {
        await sweepRecords(deps)
        return undefined
      }
      const monitor = await resources.get('RepositoryMonitor', parseKey(key))
      if (monitor === undefined || monitor.metadata.deletionTimestamp !== undefined) return undefined
      return reconcileMonitor(deps, monitor)
    },
  })
}
