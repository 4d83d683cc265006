// Removes what is no longer needed: records without an owner, and records past their retention (TASK-063).
import { messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Records } from '../../ports/index.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { AgedNoun, RecordOwners } from '../../ports/resources/retention.ts'
import { type Controller, createTimerSource, defineController, type Log } from '../engine/controller.ts'
import { sweepEndedTasks } from '../tasks/expiry.ts'

export type RetentionSettings = {
  /** Time between two sweeps. */
  intervalMs: number
  /** How long ended tasks with all their records are kept, and other records; absent: forever. */
  tasksMs?: number
  sessionsMs?: number
  eventsMs?: number
  usageMs?: number
  auditMs?: number
  deliveriesMs?: number
  responsesMs?: number
}

const dayMs = 86_400_000

export const defaultRetention: RetentionSettings = {
  intervalMs: 3_600_000,
  tasksMs: 30 * dayMs,
  sessionsMs: 90 * dayMs,
  eventsMs: 30 * dayMs,
  usageMs: 400 * dayMs,
  auditMs: 90 * dayMs,
  deliveriesMs: 7 * dayMs,
  responsesMs: dayMs,
}

type SweepDeps = {
  resources: Pick<Resources, 'get' | 'list' | 'remove'>
  records: Pick<Records, AgedNoun | 'agentVersions'>
  owners: RecordOwners
  leftovers: readonly Sweep[]
  clock: Clock
  log: Log
  settings: RetentionSettings
}

const pageSize = 200
/** Starting up and serving come first. */
const startPauseMs = 60_000
/** Pause between two pages, so that a large store delays nobody. */
const pagePauseMs = 20

async function isOwned({ resources }: SweepDeps, uid: string): Promise<boolean> {
  const { items } = await resources.list('Task', { fields: { uid }, limit: 1 })
  return items.length > 0
}

/** A task is stored before its first record, so a uid without a task belongs to a deleted one. */
async function sweepOrphans(deps: SweepDeps, signal: AbortSignal): Promise<number> {
  let removed = 0
  let after: string | undefined
  while (!signal.aborted) {
    const uids = await deps.owners.taskUids(after, pageSize)
    for (const uid of uids) {
      if (await isOwned(deps, uid)) continue
      await deps.owners.removeTask(uid)
      removed += 1
    }
    after = uids.at(-1)
    if (uids.length < pageSize) return removed
    await deps.clock.sleep(pagePauseMs, signal)
  }
  return removed
}

/** Of agents that were deleted while nobody looked. */
async function sweepAgentVersions({ resources, records: { agentVersions } }: SweepDeps): Promise<number> {
  let removed = 0
  for (const key of await agentVersions.agents()) {
    if ((await resources.get('Agent', key))?.metadata.uid === key.uid) continue
    await agentVersions.remove(key)
    removed += 1
  }
  return removed
}

type Age = { name: string; ms(settings: RetentionSettings): number | undefined }

/** The retention of each sort of record, except those held by a task; records of a task end with it at the latest. */
const ages: Record<AgedNoun, Age> = {
  sessions: { name: 'sessions', ms: ({ sessionsMs }) => sessionsMs },
  events: { name: 'events', ms: ({ eventsMs }) => eventsMs },
  messages: { name: 'messages', ms: ({ eventsMs }) => eventsMs },
  usage: { name: 'usage', ms: ({ usageMs }) => usageMs },
  rateLimits: { name: 'rate limits', ms: () => dayMs },
  providerHealth: { name: 'provider health', ms: ({ eventsMs }) => eventsMs },
  monitors: { name: 'records of monitors', ms: ({ eventsMs }) => eventsMs },
  audit: { name: 'audit log', ms: ({ auditMs }) => auditMs },
  idempotency: { name: 'idempotency keys', ms: () => dayMs },
  deliveries: { name: 'deliveries of the webhook', ms: ({ deliveriesMs }) => deliveriesMs },
  // As long as usage: a budget of all time raises each alert once.
  alerts: { name: 'alerts', ms: ({ usageMs }) => usageMs },
  storedResponses: { name: 'responses', ms: ({ responsesMs }) => responsesMs },
}

/** Removes what of a sort is no longer needed; returns how many. */
export type Sweep = { name: string; run(): Promise<number> }

function listSweeps(deps: SweepDeps, signal: AbortSignal): Sweep[] {
  const { records, settings } = deps
  const now = deps.clock.now()
  const { tasksMs } = settings
  const aged = (Object.keys(ages) as AgedNoun[]).flatMap((noun) => {
    const ms = ages[noun].ms(settings)
    if (ms === undefined) return []
    return [{ name: ages[noun].name, run: () => records[noun].sweep(new Date(now.getTime() - ms)) }]
  })
  return [
    ...(tasksMs === undefined ? [] : [{ name: 'ended tasks', run: () => sweepEndedTasks(deps, tasksMs, signal) }]),
    { name: 'orphans', run: () => sweepOrphans(deps, signal) },
    { name: 'versions of agents', run: () => sweepAgentVersions(deps) },
    ...deps.leftovers,
    ...aged,
  ]
}

/** Runs in the background, one sweep after another; a failing sweep does not prevent the rest. */
export function createSweepController(deps: SweepDeps): Controller {
  const { clock, log, settings } = deps
  const { intervalMs } = settings
  return defineController({
    name: 'retention',
    sources: [
      createTimerSource('sweep', { firstMs: startPauseMs, intervalMs }, (ms, signal) => clock.sleep(ms, signal)),
    ],
    concurrency: 1,
    async reconcile(_key, signal) {
      for (const sweep of listSweeps(deps, signal)) {
        try {
          const removed = await sweep.run()
          if (removed > 0) log.info({ sweep: sweep.name, removed }, 'what is no longer needed was removed')
        } catch (error) {
          log.warn({ sweep: sweep.name, error: messageOf(error) }, 'a sweep failed')
        }
      }
      return undefined
    },
  })
}

/** What a service that was killed left goes soon after the next one starts. */
const workloadSweepTimes = { firstMs: 5000, intervalMs: 30_000 }

type WorkloadSweepDeps = { clock: Clock; log: Log; sweep(signal: AbortSignal): Promise<number> }

/** Soon ends attempts whose task no longer exists: they take up room on a node. */
export function createWorkloadSweepController({ clock, log, sweep }: WorkloadSweepDeps): Controller {
  return defineController({
    name: 'stray workloads',
    sources: [createTimerSource('sweep', workloadSweepTimes, (ms, signal) => clock.sleep(ms, signal))],
    concurrency: 1,
    async reconcile(_key, signal) {
      const removed = await sweep(signal)
      if (removed > 0) log.info({ removed }, 'attempts without a task were removed')
      return undefined
    },
  })
}
