// Monitors: one step brings runs, reviews and publishings of a repository further, each from what is stored of it.
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import type { MonitorKey } from '../../ports/monitors/monitors.ts'
import { monitorLabel } from '../../rules/monitors/tasks.ts'
import {
  type Controller,
  createTimerSource,
  defineController,
  formatKey,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { createKindSource, createOwnedTaskSource, type OwnedTasks } from '../engine/kind-source.ts'
import { advanceAll } from './progress.ts'
import { begin, executeRun, findProblem, queueDueRun } from './run.ts'
import { lookAgainMs, type MonitorDeps, type MonitorWork, retryMs } from './settings.ts'
import { type Outlook, writeMonitorStatus } from './status.ts'

const idleMs = 600_000
const sweepKey = '/'
const ownedTasks: OwnedTasks = { ownerLabel: monitorLabel, concerns: () => true }

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

async function rateLimitedUntil({ deps, key }: MonitorWork): Promise<string | undefined> {
  const [run] = (await deps.records.monitors.listRuns(key, { limit: 20 })).filter(({ phase }) => phase === 'running')
  return run?.heldUpUntil
}

/** Nothing waits: what the service knows by itself is reported, and nobody else is asked. */
async function reportIdle(
  deps: MonitorDeps,
  monitor: RepositoryMonitor,
  key: MonitorKey,
  scheduled: Outlook,
): Promise<void> {
  const problem = scheduled.problem ?? (await findProblem(deps, monitor))
  await writeMonitorStatus(deps, monitor, key, { ...scheduled, ...(problem && { problem }) })
}

async function hasWork({ records: { monitors } }: MonitorDeps, key: MonitorKey): Promise<boolean> {
  return (await monitors.hasActiveRun(key)) || (await monitors.listUnderWay(key)).length > 0
}

/** Milliseconds until the next step. */
async function doWork(work: MonitorWork, scheduled: Outlook): Promise<number> {
  const runMs = (await runAll(work)) ?? lookAgainMs
  const further = await advanceAll(work)
  const rateLimitEnd = (await rateLimitedUntil(work)) ?? further.heldUpUntil
  const outlook = { ...scheduled, branch: work.branch, ...(rateLimitEnd && { heldUpUntil: rateLimitEnd }) }
  await writeMonitorStatus(work.deps, work.monitor, work.key, outlook)
  return Math.min(runMs, further.retry ? retryMs : lookAgainMs)
}

async function reconcileMonitor(deps: MonitorDeps, monitor: RepositoryMonitor): Promise<Reconciled> {
  const { uid, namespace, name, generation } = monitor.metadata
  const key: MonitorKey = { uid, namespace, name }
  const { next, waitMs: tickMs = idleMs, problem } = await queueDueRun(deps, monitor, key)
  const invalid = problem === undefined ? {} : { problem: { reason: 'InvalidSchedule', message: problem } }
  const scheduled: Outlook = { ...invalid, ...(next && { next }) }
  if (monitor.status?.observedGeneration === generation && !(await hasWork(deps, key))) {
    await reportIdle(deps, monitor, key, scheduled)
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
      createOwnedTaskSource(deps, ownedTasks),
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
