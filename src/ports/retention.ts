// What lets a sweep find records whose task is gone (TASK-063).

export interface RecordOwners {
  /**
   * Uids of tasks that own records of any kind (results, artifacts, checkpoints, plans, events, logs), bytewise rising,
   * after `after`, at most `limit`; fewer than `limit` means there are no more.
   */
  taskUids(after: string | undefined, limit: number): Promise<string[]>
  /** Removes every record of the task but its usage, which has a retention of its own. Harmless when there are none. */
  removeTask(uid: string): Promise<void>
}
