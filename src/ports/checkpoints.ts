// The saved state of an attempt's tool loop, from which the next attempt goes on.
import type { AttemptKey } from './workloads.ts'

export interface Checkpoints {
  /** Replaces the task's checkpoint; JSON text of at most 10 MiB. Ignored (Conflict) when a later attempt has saved. */
  save(key: AttemptKey, state: string): Promise<void>
  /** The newest checkpoint of the task, of whichever attempt. */
  load(taskUid: string): Promise<{ attempt: number; state: string } | undefined>
  removeTask(taskUid: string): Promise<void>
}
