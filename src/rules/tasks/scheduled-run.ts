// The task that a schedule creates at a tick, and which old ones are removed.
import { createHash } from 'node:crypto'
import { apiVersion, type OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { monitorAnnotation } from '../codehost/code-host-tools.ts'
import { callerAnnotationKeys } from '../identity/caller-identity.ts'
import { inheritStamp } from './stamp.ts'

export const parentLabel = 'svc.ai/parent-task'
export const parentAnnotation = 'svc.ai/parent-task-name'
export const scheduledRunLabel = 'svc.ai/scheduled-run'
export const cleanupFinalizer = 'svc.ai/cleanup'

/** When a person asked for a run (RFC 3339); it stays until that run is created. */
export const runAnnotation = 'svc.ai/run-requested'

/** The time of a requested run that has not been created yet. */
export function wantedRunOf({ metadata }: Pick<Task, 'metadata'>): Date | undefined {
  const asked = new Date(metadata.annotations?.[runAnnotation] ?? Number.NaN)
  return Number.isNaN(asked.getTime()) ? undefined : asked
}

const longestName = 63

/** `<task>-<unix seconds>`; a task name that is too long is cut and made unique by a hash. One tick has one name. */
export function nameScheduledRun(taskName: string, tick: Date): string {
  const seconds = String(Math.floor(tick.getTime() / 1000))
  const plain = `${taskName}-${seconds}`
  if (plain.length <= longestName) return plain
  const hash = createHash('sha256').update(taskName).digest('hex').slice(0, 6)
  const room = longestName - seconds.length - hash.length - 2
  return `${taskName.slice(0, room).replace(/-+$/, '')}-${hash}-${seconds}`
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
  const { namespace, name, labels, annotations } = parent.metadata
  const kept = [...callerAnnotationKeys, monitorAnnotation]
  const callers = Object.entries(annotations ?? {}).filter(([key]) => kept.includes(key))
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
