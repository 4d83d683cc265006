// How a task has ended, noted on its metadata: a restore without status (Velero, GitOps) brings that back alone, and then
// the task must not run again.
import { isTerminalPhase, type Task, type terminalPhases } from '../../contract/kinds/tasks/task.ts'

/** `Succeeded 2026-03-01T12:00:02.000Z`: the final phase and when it was reached. */
export const endedAnnotation = 'svc.ai/ended'

/** What was running when a backup was taken: the number of the attempt that a restore does not repeat. */
export const restoredAttemptAnnotation = 'svc.ai/restored-attempt'

export type TaskEndMark = { phase: (typeof terminalPhases)[number]; completionTime: string }

/** Undefined for a task that has no mark, or one that nobody can read. */
export function readEndMark({ metadata }: Pick<Task, 'metadata'>): TaskEndMark | undefined {
  const [phase, time] = metadata.annotations?.[endedAnnotation]?.split(' ') ?? []
  if (!isTerminalPhase(phase)) return undefined
  const end = new Date(time ?? Number.NaN)
  return { phase, completionTime: Number.isNaN(end.getTime()) ? metadata.creationTimestamp : end.toISOString() }
}

export function withEndMark(task: Task, { phase, completionTime }: TaskEndMark): Task {
  const annotations = { ...task.metadata.annotations, [endedAnnotation]: `${phase} ${completionTime}` }
  return { ...task, metadata: { ...task.metadata, annotations } }
}
