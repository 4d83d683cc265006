// The one result of each attempt: opaque bytes, at most 10 MiB (TASK-058).
import type { Readable } from 'node:stream'
import type { AttemptKey } from './workloads.ts'

export type ResultInfo = AttemptKey & { size: number; contentType: string; createdAt: string }

export interface Results {
  /**
   * Streams the body to storage; replaces an earlier result of the attempt. TooLarge beyond 10 MiB, InvalidRequest when
   * empty, StorageFull when the disk is, ClientClosed when the body breaks off. A failed write leaves the earlier
   * result unchanged, and the body paused: neither read to its end nor destroyed. Durable when it resolves.
   */
  put(key: AttemptKey, body: Readable, contentType: string): Promise<ResultInfo>
  /** The result of the attempt, or of the newest attempt that has one. */
  get(taskUid: string, attempt?: number): Promise<{ info: ResultInfo; open(): Readable } | undefined>
  /** Removes all results of the task. Harmless when there are none. */
  removeTask(taskUid: string): Promise<void>
}
