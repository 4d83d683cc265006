// Where the embedded secrets store their ciphertext: rows that mean nothing to the database.
import type { ResourceKey } from '../../ports/resources/resources.ts'

/** One secret as stored: each value is sealed, the rest is plain metadata. */
export type SecretRow = ResourceKey & {
  type: string
  annotations: Record<string, string>
  /** RFC 3339, whole seconds. */
  createdAt: string
  /** Key name to sealed value (`seal` in src/store/local/secret-key.ts). */
  entries: Record<string, Buffer>
}

export interface SecretStorage {
  get(key: ResourceKey): Promise<SecretRow | undefined>
  /** In namespace/name order (by code unit, not by collation). */
  list(namespace?: string): Promise<SecretRow[]>
  /** False when the name is taken; then nothing is written. Durable when it resolves. */
  insert(row: SecretRow): Promise<boolean>
  /** False when the secret does not exist. */
  replaceAnnotations(key: ResourceKey, annotations: Record<string, string>): Promise<boolean>
  /** False when there was none. */
  delete(key: ResourceKey): Promise<boolean>
  /**
   * Replaces the sealed values of one secret if they are still `before`; false when the row has changed or is gone.
   * Durable when it resolves. Used by key rotation, one row at a time.
   */
  replaceEntries(key: ResourceKey, before: Record<string, Buffer>, after: Record<string, Buffer>): Promise<boolean>
}
