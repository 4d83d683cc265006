// The saved state of an attempt's tool loop, from which the next attempt continues.
import type { AttemptKey } from './workloads.ts'

export interface Checkpoints {
  /**
   * Replaces the task's checkpoint: JSON text of at most 10 MiB. Conflict, and no change, when a later attempt has
   * saved.
   */
  save(key: AttemptKey, state: string): Promise<void>
  /**
   * Adds what changed since the attempt saved its state: JSON text of at most 1 MiB, numbered from 1. A number that
   * exists already is ignored, so a repeated call is harmless. Conflict when the previous number is missing, when the
   * attempt has saved no state, or when a later attempt has.
   */
  append(key: AttemptKey, number: number, change: string): Promise<void>
  /** The newest checkpoint of the task, from any attempt: the saved state, and the changes in order. */
  load(taskUid: string): Promise<{ attempt: number; state: string; changes: string[] } | undefined>
  removeTask(taskUid: string): Promise<void>
}
