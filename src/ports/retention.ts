// What ends records: their task (TASK-063), or their age. Every noun of the records has one of the two, or both.
import type { Records } from './index.ts'

type Stores = Required<Records>

/** Nouns whose records belong to a task and go with it. */
export type TaskNoun = {
  [N in keyof Stores]: Stores[N] extends { removeTask(taskUid: string): Promise<void> } ? N : never
}[keyof Stores]

/** Nouns whose records go when they are old. */
export type AgedNoun = {
  [N in keyof Stores]: Stores[N] extends { sweep(before: Date): Promise<number> } ? N : never
}[keyof Stores]

export interface RecordOwners {
  /**
   * Uids of tasks that own records of any kind (`TaskNoun`), bytewise rising,
   * after `after`, at most `limit`; fewer than `limit` means there are no more.
   */
  taskUids(after: string | undefined, limit: number): Promise<string[]>
  /** Removes every record of the task but its usage, which has a retention of its own. Harmless when there are none. */
  removeTask(uid: string): Promise<void>
}
