// Steps: what the attempts of tasks did, and the turns of sessions, for traces. Those of a session have the uid of `stepsKeyOf`
// in the place of a task's, and the number of the turn in that of the attempt.
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import type { AttemptKey } from './workloads.ts'

/** `seq` rises with every change of a step of the task, so that a reader's cursor skips none. */
export type TracedStep = StepReport & { seq: number; attempt: number }

export type StepQuery = {
  taskUid: string
  attempt?: number | undefined
  kinds?: readonly string[] | undefined
  afterSeq?: number | undefined
  limit: number
}

export interface Steps {
  /**
   * Adds steps, or replaces those of the same id; repeating is harmless. Of an attempt with too many the further ones are
   * left out; of a task with many the arguments and results of the oldest are removed.
   */
  write(key: AttemptKey, steps: readonly StepReport[]): Promise<void>
  /** In the order of their last change. */
  list(query: StepQuery): Promise<TracedStep[]>
  /** Calls back when a step of the task is written; returns the unsubscribe function. */
  onAppend(taskUid: string, listener: () => void): () => void
  /** The highest attempt that has steps; 0: there are none. */
  lastAttempt(taskUid: string): Promise<number>
  removeTask(taskUid: string): Promise<void>
}
