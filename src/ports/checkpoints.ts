// The saved state of an attempt's tool loop, from which the next attempt goes on.
import type { AttemptKey } from './workloads.ts'

export interface Checkpoints {
  /** Replaces the task's checkpoint; JSON text of at most 10 MiB. Ignored (Conflict) when a later attempt has saved. */
  save(key: AttemptKey, state: string): Promise<void>
  /**
   * Adds what has changed since the attempt's own state was saved: JSON text of at most 1 MiB, numbered from 1. A number
   * that is there already is ignored: a repeated call is harmless. Conflict when the one before it is missing, when the
   * attempt has saved no state, or when a later attempt has.
   */
  append(key: AttemptKey, number: number, change: string): Promise<void>
  /** The newest checkpoint of the task, of whichever attempt: the state as it was saved, and the changes in order. */
  load(taskUid: string): Promise<{ attempt: number; state: string; changes: string[] } | undefined>
  removeTask(taskUid: string): Promise<void>
}
