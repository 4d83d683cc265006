// Outcomes of create requests that carried an Idempotency-Key (HTTP-033..036).

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
