// Log lines of tasks; the last 10 MiB of each task are kept after its end (TASK-050).
import type { AttemptKey } from './workloads.ts'

export type LogLine = {
  /** Rises by one per line over all attempts of the task; the SSE id (TASK-052). */
  seq: number
  attempt: number
  text: string
}

export interface Logs {
  /** Appends whole lines (without the line end; longer than 64 KiB are cut and say so). NUL and lone surrogates are kept. */
  append(key: AttemptKey, lines: string[]): Promise<void>
  /** Lines after `afterSeq` (default: from the oldest kept), or only the last `tailLines`. */
  read(taskUid: string, range: { afterSeq?: number; tailLines?: number }): AsyncIterable<LogLine>
  /** Calls back when lines were added to the task; returns the unsubscribe function. */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
}
