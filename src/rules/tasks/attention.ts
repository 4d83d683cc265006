// Whether a change of a task needs the controller, and in which order waiting tasks start.
import type { ObjectMeta } from '../../contract/kinds/resources/metadata.ts'
import { hasAttempt, isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { callbackDue } from './callback.ts'
import { cancelAnnotation } from './decision.ts'
import { readEndMark } from './end-mark.ts'
import { isParked, wakeAnnotation } from './parking.ts'
import { cleanupFinalizer, wantedRunOf } from './schedule.ts'

export type StartRank = { priority: number; createdAt: string; uid: string; name: string }

export function rankTask(task: { metadata: ObjectMeta; spec: { priority?: number } }): StartRank {
  const { creationTimestamp, uid, name } = task.metadata
  return { priority: task.spec.priority ?? 500, createdAt: creationTimestamp, uid, name }
}

// RFC 9562: version 7 UUIDs sort by creation in milliseconds; creationTimestamp has only whole seconds.
function isTimeOrdered(uid: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(uid)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Negative when `a` starts before `b`. */
export function compareStart(a: StartRank, b: StartRank): number {
  if (a.priority !== b.priority) return b.priority - a.priority
  const byAge = compareText(a.createdAt, b.createdAt)
  if (byAge !== 0) return byAge
  if (isTimeOrdered(a.uid) && isTimeOrdered(b.uid) && a.uid !== b.uid) return compareText(a.uid, b.uid)
  return compareText(a.name, b.name) || compareText(a.uid, b.uid)
}

/** What the controller already knows about the task. */
export type KnownTask = {
  /** The attempt it has started and watches, if any. */
  liveAttempt: number | undefined
  /** Generation of the spec with which the task waits for capacity, if it does. */
  queuedGeneration: number | undefined
}

/** Reasons of a Pending task that only needs capacity. */
const placeReasons = new Set(['Capacity', 'NamespaceLimit', 'SiblingLimit'])

/** Whether, as far as is known, the task needs nothing but capacity to start. */
export function awaitsSlot(task: Task): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[cancelAnnotation] !== undefined) return false
  if (spec.schedule !== undefined || spec.suspend || status?.nextRetryTime !== undefined) return false
  if (status?.phase === undefined) return readEndMark(task) === undefined
  return status.phase === 'Pending' && (status.queuedReason === undefined || placeReasons.has(status.queuedReason))
}

/** False for the echo of the controller's own status writes, two for each task. */
export function needsAttention(task: Task, known: KnownTask): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined) return metadata.finalizers?.includes(cleanupFinalizer) ?? false
  if (isTerminalPhase(status?.phase)) return callbackDue(task) || spec.ttlSecondsAfterFinished !== undefined
  if (metadata.annotations?.[cancelAnnotation] !== undefined || wantedRunOf(task) !== undefined) return true
  if (status?.observedGeneration !== metadata.generation) return true
  if (isParked(task)) return metadata.annotations?.[wakeAnnotation] !== undefined
  if (hasAttempt(status)) return status.attempts !== known.liveAttempt
  return known.queuedGeneration !== metadata.generation
}
