// Whether a change of a task needs the controller, or only reflects what the controller did itself.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { owesCallback } from './callback.ts'
import { isParked, wakeAnnotation } from './parking.ts'
import { cleanupFinalizer, wantedRunOf } from './scheduled-run.ts'
import { cancelAnnotation } from './task-decision.ts'

/** What the controller already knows about the task. */
export type Known = {
  /** The attempt it has started and watches, if any. */
  liveAttempt: number | undefined
  /** Generation of the spec with which the task waits for capacity, if it does. */
  queuedGeneration: number | undefined
}

/** Reasons of a Pending task that only needs capacity. */
const placeReasons = new Set(['Capacity', 'NamespaceLimit', 'SiblingLimit'])

/** Whether, as far as is known, the task needs nothing but capacity to start. */
export function awaitsPlace(task: Task): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[cancelAnnotation] !== undefined) return false
  if (spec.schedule !== undefined || spec.suspend || status?.nextRetryTime !== undefined) return false
  if (status?.phase === undefined) return true
  return status.phase === 'Pending' && (status.queuedReason === undefined || placeReasons.has(status.queuedReason))
}

/** False for the echo of the controller's own status writes, two for each task. */
export function needsAttention(task: Task, known: Known): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined) return metadata.finalizers?.includes(cleanupFinalizer) ?? false
  if (isTerminalPhase(status?.phase)) return owesCallback(task) || spec.ttlSecondsAfterFinished !== undefined
  if (metadata.annotations?.[cancelAnnotation] !== undefined || wantedRunOf(task) !== undefined) return true
  if (status?.observedGeneration !== metadata.generation) return true
  if (isParked(task)) return metadata.annotations?.[wakeAnnotation] !== undefined
  if (status.phase === 'Running') return status.attempts !== known.liveAttempt
  return known.queuedGeneration !== metadata.generation
}
