// Opaque secrets: named maps of text.
import type { ResourceKey } from './resources.ts'

export type SecretMetadata = {
  namespace: string
  name: string
  type: string
  /** Key names, never values. */
  keys: string[]
  annotations: Record<string, string>
  createdAt: string
}

export type SecretDraft = ResourceKey & { stringData: Record<string, string>; annotations?: Record<string, string> }

export interface Secrets {
  /** Decrypted values, or undefined when there is no such secret. */
  read(key: ResourceKey): Promise<Record<string, string> | undefined>
  describe(key: ResourceKey): Promise<SecretMetadata | undefined>
  /** In namespace/name order. */
  list(namespace?: string): Promise<SecretMetadata[]>
  /** AlreadyExists when the name is taken. */
  create(draft: SecretDraft): Promise<SecretMetadata>
  /** NotFound when it is not there. */
  remove(key: ResourceKey): Promise<void>
  /** Calls back when a secret was made, changed or removed; returns the unsubscribe function. */
  onChange(listener: (key: ResourceKey) => void): () => void
}
