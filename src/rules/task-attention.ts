// Whether a change of a task needs the controller's eye, or only tells of what it did itself.
import { isTerminalPhase, type Task } from '../contract/resources/task.ts'
import { owesCallback } from './callback.ts'
import { cleanupFinalizer, wantedRunOf } from './scheduled-run.ts'
import { cancelAnnotation } from './task-decision.ts'

/** What the controller knows of the task already. */
export type Known = {
  /** The attempt it started and watches, when it does. */
  liveAttempt: number | undefined
  /** Generation of the spec under which it waits for room, when it does. */
  queuedGeneration: number | undefined
}

/** Reasons of a Pending task that only needs a place. */
const placeReasons = new Set(['Capacity', 'NamespaceLimit', 'SiblingLimit'])

/** Whether all that is known of the task says that it needs nothing but a place to start. */
export function awaitsPlace(task: Task): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[cancelAnnotation] !== undefined) return false
  if (spec.schedule !== undefined || spec.suspend || status?.nextRetryTime !== undefined) return false
  if (status?.phase === undefined) return true
  return status.phase === 'Pending' && (status.queuedReason === undefined || placeReasons.has(status.queuedReason))
}

/** False for the echo of the controller's own status writes, which come two for each task. */
export function needsAttention(task: Task, known: Known): boolean {
  const { metadata, spec, status } = task
  if (metadata.deletionTimestamp !== undefined) return metadata.finalizers?.includes(cleanupFinalizer) ?? false
  if (isTerminalPhase(status?.phase)) return owesCallback(task) || spec.ttlSecondsAfterFinished !== undefined
  if (metadata.annotations?.[cancelAnnotation] !== undefined || wantedRunOf(task) !== undefined) return true
  if (status?.observedGeneration !== metadata.generation) return true
  if (status.phase === 'Running') return status.attempts !== known.liveAttempt
  return known.queuedGeneration !== metadata.generation
}
