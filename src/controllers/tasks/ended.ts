// The mark of a task that has ended: written with its end, and believed when the task comes back without a status.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { type ConditionChange, setCondition } from '../../rules/resources/conditions.ts'
import { readEndMark, type TaskEndMark, withEndMark } from '../../rules/tasks/end-mark.ts'
import type { Reconciled } from '../engine/controller.ts'
import { type ReconcileContext, taskKeyOf } from './context.ts'

/** As a Job has them: whoever waits for a task by kubectl waits for one of two. */
export function listEnds(phase: TaskEndMark['phase'], end: Omit<ConditionChange, 'type'>): ConditionChange[] {
  const complete = { type: 'Complete', ...end }
  return phase === 'Failed' ? [{ type: 'Failed', ...end, status: 'True' }, complete] : [complete]
}

/** Whether a task that has ended, perhaps before there were marks, still lacks its own. */
export function lacksEndMark({ settings }: Pick<ReconcileContext, 'settings'>, task: Task): boolean {
  const isKept = task.metadata.deletionTimestamp === undefined && isTerminalPhase(task.status?.phase)
  return settings.marksEnds && isKept && readEndMark(task) === undefined
}

/** Those of releases before there were marks get theirs when they are listed. */
export async function keepEndMark(context: ReconcileContext, task: Task): Promise<Task> {
  const { phase, completionTime = task.metadata.creationTimestamp } = task.status ?? {}
  if (!isTerminalPhase(phase) || !lacksEndMark(context, task)) return task
  return await markEnd(context, task, { phase, completionTime })
}

/** Before the final status, so that no copy of an ended task is without it. Returns the task as it is then. */
export async function markEnd(context: ReconcileContext, task: Task, end: TaskEndMark): Promise<Task> {
  if (!context.settings.marksEnds || readEndMark(task)?.phase === end.phase) return task
  return await context.resources.update('Task', withEndMark(task, end))
}

/** Gives a task that was restored without its status the one that its mark tells of; nothing starts. */
export async function recallEnd(context: ReconcileContext, task: Task, end: TaskEndMark): Promise<Reconciled> {
  const { phase, completionTime } = end
  const message = `restored without its status: it was ${phase} at ${completionTime}, and does not run again`
  const ends = listEnds(phase, { status: phase === 'Succeeded' ? 'True' : 'False', reason: 'Restored', message })
  const conditions = ends.reduce(
    (all, condition) => setCondition(all, condition, context.clock.now()),
    task.status?.conditions,
  )
  const change = { phase, completionTime, message, conditions, resultRef: { available: false } }
  await context.recorder.move(task, { type: 'PhaseChanged', phase, reason: 'Restored', message }, change)
  context.state.scheduler.release(taskKeyOf(task))
  return undefined
}
