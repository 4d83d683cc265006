// That records have changed, on any replica: a hint to read them again, without what has changed.
import type { RecordKind } from '../../contract/api/resources/watch.ts'

/** `namespace` is absent where it is not known, and for records of the whole service. */
export type RecordChange = { kind: RecordKind; namespace?: string }

export interface RecordChanges {
  /**
   * Calls back soon after records have changed, at most once a second for each kind and namespace; undefined: anything may have
   * changed. Returns the function that ends it.
   */
  subscribe(listener: (change: RecordChange | undefined) => void): () => void
}
