// Bodies of results, artifacts and checkpoints: small ones go into their row, larger ones beside the database.
import type { Readable } from 'node:stream'

/** Whether a text can be the name of a body, and no path that leads elsewhere. */
export function isBlobId(text: string): boolean {
  return /^[\w-]+$/.test(text)
}

/** What a record's row says about its body; exactly one of `blob_id` and `content` is set. */
export type BlobReference = { blob_id: string | null; content: Uint8Array | null }

export type StoredBlob = BlobReference & { size: number }

export type BlobLimits = {
  /** Largest body in bytes. */
  limit: number
  /** The message of TooLarge. */
  tooLarge: string
  /** The message of InvalidRequest for an empty body. Absent: empty is allowed. */
  empty?: string
}

export interface Blobs {
  /**
   * Streams the body to durable storage, then runs `commit`, which writes the row that refers to it. When anything
   * fails nothing is left of the body. TooLarge as soon as the limit is passed: the body is then left paused, neither
   * read to its end nor destroyed, so that an HTTP answer can still be sent. InvalidRequest when empty, StorageFull,
   * ClientClosed when the body breaks off.
   */
  store<T>(body: Readable, limits: BlobLimits, commit: (blob: StoredBlob) => Promise<T>): Promise<T>
  /** The bytes. Conflict when they were replaced or removed after the row was read. */
  open(blob: BlobReference): Readable
  /** Removes bodies whose rows are gone. Harmless when the bodies are gone too. */
  remove(blobIds: readonly (string | null)[]): Promise<void>
  /** Removes what a crash left between body and row; `findReferenced` says which ids have a row. Returns how many. */
  sweepOrphans(findReferenced: (blobIds: string[]) => Promise<Set<string>>): Promise<number>
}
