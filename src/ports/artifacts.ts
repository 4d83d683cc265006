// Files that an attempt leaves behind, and those that a task is given: 10 MiB each, 50 MiB per task (TASK-059, TASK-060).
import type { Readable } from 'node:stream'
import type { AttemptKey } from './workloads.ts'

/** `filename` is the path from the workspace, with `/`. */
export type ArtifactInfo = AttemptKey & { filename: string; contentType: string; size: number; createdAt: string }

export interface Artifacts {
  /**
   * Streams the body to storage; the same filename overwrites, also an earlier attempt's. Conflict when a later attempt
   * has stored that name. TooLarge, InvalidRequest (bad name; empty, but for what a task is given), StorageFull, ClientClosed; on an error the body is
   * left paused, neither read on nor destroyed.
   */
  put(key: AttemptKey, file: { filename: string; contentType: string; body: Readable }): Promise<ArtifactInfo>
  /** Newest attempt's file of each name, by name. */
  list(taskUid: string): Promise<ArtifactInfo[]>
  open(taskUid: string, filename: string): Promise<{ info: ArtifactInfo; open(): Readable } | undefined>
  removeTask(taskUid: string): Promise<void>
}
