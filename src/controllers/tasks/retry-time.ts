// When a task is tried again: people are told a moment, and the wait is measured from when it was written, whatever becomes of the
// clock on the wall.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { ReconcileContext } from './context.ts'

const nameWait = ({ metadata }: Task, nextRetryTime: string) => `${metadata.uid} ${nextRetryTime}`

/** The moment to write into the status; the wait begins now. */
export function beginWait({ clock, state }: ReconcileContext, task: Task, delayMs: number): string {
  const nextRetryTime = new Date(clock.now().getTime() + delayMs).toISOString()
  state.stopwatches.momentSince(nameWait(task, nextRetryTime))
  return nextRetryTime
}

/** Up to which moment of its wait the task has come. */
export function momentOfWait({ state }: ReconcileContext, task: Task, nextRetryTime: string): Date {
  return state.stopwatches.momentSince(nameWait(task, nextRetryTime))
}
