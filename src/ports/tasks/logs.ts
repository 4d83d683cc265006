// Log lines of tasks; the last 10 MiB of each task are kept after its end (TASK-050).
import type { AttemptKey } from './workloads.ts'

export type LogLine = {
  /** Increases by one per line across all attempts of the task; the SSE id (TASK-052). */
  seq: number
  attempt: number
  text: string
}

/** What an attempt has written so far of a line that has no end yet. */
export type UnfinishedLine = { attempt: number; text: string }

export interface Logs {
  /**
   * Appends whole lines (without the line end; longer than 64 KiB are cut and say so). NUL and lone surrogates are
   * kept. `unfinished` is what there is of the line after them, in place of what there was before; left out, that stays
   * as it is. It is not a line, has no number, and may be lost with the process.
   */
  append(key: AttemptKey, lines: string[], unfinished?: string): Promise<void>
  /** Undefined when the last line of the task has its end. */
  unfinished(taskUid: string): Promise<UnfinishedLine | undefined>
  /** What the attempt left unfinished becomes a line; what another attempt is writing stays. For when the attempt is over. */
  finishLine(key: AttemptKey): Promise<void>
  /** Lines after `afterSeq` (default: from the oldest kept), or only the last `tailLines`. */
  read(taskUid: string, range: { afterSeq?: number; tailLines?: number }): AsyncIterable<LogLine>
  /**
   * Calls back when lines were added to the task, or the unfinished one has changed; returns the unsubscribe function.
   */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
}
