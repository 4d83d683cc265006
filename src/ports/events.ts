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
  append(event: Omit<TimelineEvent, 'seq' | 'createdAt'>): Promise<TimelineEvent>
  /** Oldest first, after `afterSeq`. */
  list(query: { taskUid: string; afterSeq?: number; limit?: number }): Promise<TimelineEvent[]>
  /** Calls back when the task got an event; returns the unsubscribe function. */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
  sweep(before: Date): Promise<number>
}
