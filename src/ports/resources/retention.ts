// When records are removed: with their task (TASK-063), or by age. Every sort of record has one of the two, or both.
import type { Records } from '../index.ts'

type Stores = Required<Records>

/** Sorts of records that belong to a task and are removed with it. */
export type TaskNoun = {
  [N in keyof Stores]: Stores[N] extends { removeTask(taskUid: string): Promise<void> } ? N : never
}[keyof Stores]

/** Sorts of records that are removed when they are old. */
export type AgedNoun = {
  [N in keyof Stores]: Stores[N] extends { sweep(before: Date): Promise<number> } ? N : never
}[keyof Stores]

export interface RecordOwners {
  /**
   * Uids of tasks that own records of any sort (`TaskNoun`), in ascending byte order,
   * after `after`, at most `limit`; fewer than `limit` means there are no more.
   */
  taskUids(after: string | undefined, limit: number): Promise<string[]>
  /**
   * Removes every record of the task except its usage, which has a retention of its own. Harmless when there are none.
   */
  removeTask(uid: string): Promise<void>
}
