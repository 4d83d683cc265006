// The timeline of a task: what happened to it, in order.

export type EventRecord = {
  /**
   * Increases by one per task without gaps, so that a reader's cursor never skips an event that is committed late (the
   * SSE id).
   */
  seq: number
  taskUid: string
  attempt: number
  namespace: string
  taskName: string
  /** `PhaseChanged`, `Queued`, `RetryScheduled`, `Interrupted`, `CallbackDelivered`, `ToolCalled` ... */
  type: string
  phase?: string
  reason?: string
  message: string
  createdAt: string
}

export interface Events {
  /**
   * An event is written before the status that it announces, so after a crash between the two it is announced again: an
   * event with the type, attempt, phase and message of the task's newest one is not written twice; the stored one is
   * returned. `admit` is called while no other event of the task can be added: what it throws undoes the append, so a
   * leader whose term is over by then adds nothing after an event of its successor.
   */
  append(event: Omit<EventRecord, 'seq' | 'createdAt'>, admit?: () => void): Promise<EventRecord>
  /**
   * Adds events of one task in one step, as long as it has had fewer than `max`; the rest is left out. Resolves to those
   * that were added.
   */
  appendAll(events: Omit<EventRecord, 'seq' | 'createdAt'>[], max: number): Promise<EventRecord[]>
  /** Oldest first, after `afterSeq`. */
  list(query: { taskUid: string; afterSeq?: number; limit?: number }): Promise<EventRecord[]>
  /** Calls back when an event is added to the task; returns the unsubscribe function. */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
  sweep(before: Date): Promise<number>
}
