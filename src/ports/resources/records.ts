// Records beside resources: keys of idempotent requests, and changes of records.
import type { RecordKind } from '../../contract/api/resources/watch.ts'

export type IdempotentOutcome = {
  status: number
  kind: string
  namespace: string
  name: string
  /** Of the object; absent in outcomes stored before this field existed. */
  uid?: string
}

export type IdempotencyClaim =
  /** The key was free: do the work, then `settle` or `release`. */
  | { state: 'claimed' }
  /** Another request with this key is under way. */
  | { state: 'running' }
  /** Completed before, with the same body. */
  | { state: 'settled'; outcome: IdempotentOutcome }
  /** Used before, with another body. */
  | { state: 'mismatch' }

export interface IdempotencyKeys {
  /**
   * `key` and `bodyHash` are keyed hashes from the caller; a claim of a dead process can be taken over after `staleMs`.
   */
  claim(
    key: string,
    bodyHash: string,
    options: { now: Date; ttlMs: number; staleMs: number },
  ): Promise<IdempotencyClaim>
  settle(key: string, outcome: IdempotentOutcome): Promise<void>
  release(key: string): Promise<void>
  sweep(before: Date): Promise<number>
}

/** `namespace` is absent where it is not known, and for records of the whole service. */
export type RecordChange = { kind: RecordKind; namespace?: string }

export interface RecordChanges {
  /**
   * Calls back soon after records have changed, at most once a second for each kind and namespace; undefined: anything may have
   * changed. Returns the function that ends it.
   */
  subscribe(listener: (change: RecordChange | undefined) => void): () => void
}
