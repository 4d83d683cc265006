// When a scheduled task runs: deadlines and overlap; and the runs that are made of it. `schedule-ticks.ts` says when it fires.
import { createHash } from 'node:crypto'
import { apiVersion, type OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { retryOfLabel } from '../../contract/kinds/tasks/family.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { type ParsedSchedule, parseSchedule } from '../../contract/values/schedule.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { attributionAnnotation } from '../budgets/attribution.ts'
import { monitorAnnotation } from '../codehost/tools.ts'
import { callerAnnotationKeys } from '../identity/caller-identity.ts'
import { findLatestTick, makeCronTicks, makeIntervalTicks, type NextTick } from './schedule-ticks.ts'
import { inheritStamp } from './stamp.ts'

export const parentLabel = 'svc.ai/parent-task'
export const parentAnnotation = 'svc.ai/parent-task-name'
export const scheduledRunLabel = 'svc.ai/scheduled-run'
export const cleanupFinalizer = 'svc.ai/cleanup'

/** When a person asked for a run (RFC 3339); it stays until that run is created. */
export const runAnnotation = 'svc.ai/run-requested'

/** The time of a requested run that has not been created yet. */
export function wantedRunOf({ metadata }: Pick<Task, 'metadata'>): Date | undefined {
  const requested = new Date(metadata.annotations?.[runAnnotation] ?? Number.NaN)
  return Number.isNaN(requested.getTime()) ? undefined : requested
}

const maxNameLength = 63

/** `<task>-<unix seconds>`; a task name that is too long is cut and made unique by a hash. One tick has one name. */
export function nameScheduledRun(taskName: string, tick: Date): string {
  const seconds = String(Math.floor(tick.getTime() / 1000))
  const plain = `${taskName}-${seconds}`
  if (plain.length <= maxNameLength) return plain
  const hash = createHash('sha256').update(taskName).digest('hex').slice(0, 6)
  const room = maxNameLength - seconds.length - hash.length - 2
  return `${trimTrailing(taskName.slice(0, room), '-')}-${hash}-${seconds}`
}

function makeRunSpec(spec: TaskSpec): TaskSpec {
  const { schedule, timeZone, ...rest } = spec
  return {
    ...rest,
    concurrencyPolicy: 'Forbid',
    startingDeadlineSeconds: 100,
    successfulRunsHistoryLimit: 3,
    failedRunsHistoryLimit: 1,
    suspend: false,
  }
}

/** The owner reference of a task's children. */
export function makeOwner(task: Pick<Task, 'metadata'>): OwnerReference {
  const { name, uid } = task.metadata
  return { apiVersion, kind: 'Task', name, uid, controller: true, blockOwnerDeletion: true }
}

type RunDraft = {
  metadata: Pick<Task['metadata'], 'namespace' | 'name' | 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'>
  spec: TaskSpec
}

/** The child task of one tick. */
export function makeScheduledRun(parent: Task, tick: Date): RunDraft {
  const { namespace, name, annotations } = parent.metadata
  // A run repeats its schedule, and not what the schedule repeats.
  const { [retryOfLabel]: _repeated, ...labels } = parent.metadata.labels ?? {}
  const inherited = [...callerAnnotationKeys, attributionAnnotation, monitorAnnotation]
  const callers = Object.entries(annotations ?? {}).filter(([key]) => inherited.includes(key))
  return {
    metadata: {
      namespace,
      name: nameScheduledRun(name, tick),
      labels: { ...labels, [parentLabel]: name, [scheduledRunLabel]: 'true' },
      annotations: {
        ...inheritStamp(parent).annotations,
        [parentAnnotation]: name,
        ...Object.fromEntries(callers),
      },
      finalizers: [cleanupFinalizer],
      ownerReferences: [makeOwner(parent)],
    },
    spec: makeRunSpec(parent.spec),
  }
}

function byEnd(a: Task, b: Task): number {
  const end = (task: Task) => task.status?.completionTime ?? task.metadata.creationTimestamp
  return end(a) < end(b) ? -1 : Number(end(a) > end(b)) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

/** Ended scheduled runs beyond the history limits, oldest first. Cancelled runs are neither counted nor removed. */
export function listExpiredRuns(parent: Task, children: Task[]): Task[] {
  const runs = children.filter((child) => child.metadata.labels?.[scheduledRunLabel] === 'true')
  const beyond = (phase: string, limit: number) => {
    const ended = runs.filter((child) => child.status?.phase === phase).toSorted(byEnd)
    return ended.slice(0, Math.max(0, ended.length - limit))
  }
  return [
    ...beyond('Succeeded', parent.spec.successfulRunsHistoryLimit),
    ...beyond('Failed', parent.spec.failedRunsHistoryLimit),
  ]
}

export type ScheduleSpec = {
  schedule: string
  timeZone?: string | undefined
  startingDeadlineSeconds: number
  concurrencyPolicy: 'Allow' | 'Forbid'
  suspend: boolean
}

export type ScheduleFacts = {
  /** When the schedule started to count: the creation of the task. */
  createdAt: Date
  /** The tick that was last run, skipped or missed. */
  lastTick?: Date | undefined
  /** Whether a run of this schedule has not ended; only computed for Forbid. */
  hasActiveRun: boolean
}

export type ScheduleDecision =
  | { action: 'invalid'; message: string }
  | { action: 'suspended' }
  /** Nothing is due; `next` is undefined when the schedule never fires again. */
  | { action: 'wait'; next: Date | undefined }
  | { action: 'run'; tick: Date; next: Date | undefined }
  /** Forbid, and a run is active: the tick is skipped, not queued. */
  | { action: 'skip'; tick: Date; next: Date | undefined }
  /** Noticed more than startingDeadlineSeconds too late. */
  | { action: 'missed'; tick: Date; next: Date | undefined }

function makeTicks(parsed: ParsedSchedule, { timeZone = 'UTC' }: ScheduleSpec, base: number): NextTick {
  if ('everyMs' in parsed) return makeIntervalTicks(parsed.everyMs, base)
  return makeCronTicks(parsed.cron, isTimeZone(timeZone) ? timeZone : 'UTC')
}

/** What to do about the schedule now. When several ticks are due, only the latest counts. */
export function decideSchedule(spec: ScheduleSpec, facts: ScheduleFacts, now: Date): ScheduleDecision {
  const parsed = parseSchedule(spec.schedule)
  if ('fault' in parsed)
    return { action: 'invalid', message: `"${spec.schedule}" is not a schedule: it ${parsed.fault}` }
  if (spec.suspend) return { action: 'suspended' }
  const base = (facts.lastTick ?? facts.createdAt).getTime()
  const ticks = makeTicks(parsed, spec, base)
  const time = findLatestTick(ticks, base, now.getTime())
  const next = toDate(ticks(Math.max(base, now.getTime())))
  if (time === undefined) return { action: 'wait', next }
  const found = { tick: new Date(time), next }
  if (now.getTime() - time > spec.startingDeadlineSeconds * 1000) return { action: 'missed', ...found }
  if (spec.concurrencyPolicy === 'Forbid' && facts.hasActiveRun) return { action: 'skip', ...found }
  return { action: 'run', ...found }
}

const toDate = (time: number | undefined) => (time === undefined ? undefined : new Date(time))
