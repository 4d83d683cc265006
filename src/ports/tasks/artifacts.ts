// Files that an attempt leaves behind, and files that a task is given: 10 MiB each, 50 MiB per task (TASK-059,
// TASK-060).
import type { Readable } from 'node:stream'
import type { AttemptKey } from './workloads.ts'

/** `filename` is the path within the workspace, separated by `/`. */
export type ArtifactInfo = AttemptKey & { filename: string; contentType: string; size: number; createdAt: string }

export interface Artifacts {
  /**
   * Streams the body to storage. Overwrites a file of the same name, also from an earlier attempt. Conflict when a
   * later attempt has stored that name; TooLarge; InvalidRequest for a bad name, or for an empty file that a task
   * leaves (files it is given may be empty); StorageFull; ClientClosed. After an error the body is left paused: neither
   * read to its end nor destroyed.
   */
  put(key: AttemptKey, file: { filename: string; contentType: string; body: Readable }): Promise<ArtifactInfo>
  /** The newest attempt's file for each name, sorted by name. */
  list(taskUid: string): Promise<ArtifactInfo[]>
  open(taskUid: string, filename: string): Promise<{ info: ArtifactInfo; open(): Readable } | undefined>
  removeTask(taskUid: string): Promise<void>
}
