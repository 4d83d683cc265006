// When a task that has ended goes, with all that it left.
import { isTerminalPhase, type Task } from '../contract/resources/task.ts'
import { owesCallback } from './callback.ts'

/**
 * Milliseconds until the task is to be deleted: 0 when it is due, undefined when it stays. `usualMs` is for tasks that say
 * nothing themselves; undefined: they stay. A task that owes a callback stays until it was delivered or given up.
 */
export function timeToRemoval(task: Task, now: Date, usualMs?: number): number | undefined {
  const { metadata, spec, status } = task
  if (!isTerminalPhase(status?.phase) || owesCallback(task)) return undefined
  const keptMs = spec.ttlSecondsAfterFinished === undefined ? usualMs : spec.ttlSecondsAfterFinished * 1000
  if (keptMs === undefined) return undefined
  const end = Date.parse(status?.completionTime ?? metadata.creationTimestamp)
  return Math.max(0, end + keptMs - now.getTime())
}
