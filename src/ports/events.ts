// The timeline of a task: what happened to it, in order.

export type TimelineEvent = {
  /** Rises by one per task without gaps, so that a cursor never skips one committed late (the SSE id). */
  seq: number
  taskUid: string
  attempt: number
  namespace: string
  taskName: string
  /** `PhaseChanged`, `Queued`, `RetryScheduled`, `Interrupted`, `CallbackDelivered` ... */
  type: string
  phase?: string
  reason?: string
  message: string
  createdAt: string
}

export interface Events {
  /**
   * An event comes before the status that it announces, so a crash between the two makes it be announced again: one
   * with the type, attempt, phase and message of the task's newest event is not written twice; the first is returned.
   */
  append(event: Omit<TimelineEvent, 'seq' | 'createdAt'>): Promise<TimelineEvent>
  /** Oldest first, after `afterSeq`. */
  list(query: { taskUid: string; afterSeq?: number; limit?: number }): Promise<TimelineEvent[]>
  /** Calls back when the task got an event; returns the unsubscribe function. */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
  sweep(before: Date): Promise<number>
}
