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

/** The task of the same namespace that the secret belongs to; stored as the annotation `svc.ai/owner-task-uid`. */
export type SecretOwner = { name: string; uid: string }

export type SecretDraft = ResourceKey & {
  stringData: Record<string, string>
  annotations?: Record<string, string>
  owner?: SecretOwner
}

/** Values to set by key, and keys to take out; the others stay as they are. */
export type SecretChange = { stringData: Record<string, string>; remove: readonly string[] }

export interface Secrets {
  /** Decrypted values, or undefined when there is no such secret. */
  read(key: ResourceKey): Promise<Record<string, string> | undefined>
  describe(key: ResourceKey): Promise<SecretMetadata | undefined>
  /** Why one of its values is not there, and what to do, where that is not for a person to create; `owner` needs it. */
  explainMissing?(key: ResourceKey, needed: { entry: string; owner: string }): string | undefined
  /** In namespace/name order. */
  list(namespace?: string): Promise<SecretMetadata[]>
  /** AlreadyExists when the name is taken. */
  create(draft: SecretDraft): Promise<SecretMetadata>
  /** All or nothing, whoever else changes it at the same time. NotFound when it does not exist. */
  update(key: ResourceKey, change: SecretChange): Promise<SecretMetadata>
  /** NotFound when it does not exist. */
  remove(key: ResourceKey): Promise<void>
  /** Gives it to another task. NotFound when it does not exist. */
  setOwner(key: ResourceKey, owner: SecretOwner): Promise<void>
  /** Removes the secrets of a deleted task; does nothing where the store does this itself. */
  removeOwned(namespace: string, ownerUid: string): Promise<void>
  /** Calls back when a secret is created, changed or removed; returns the unsubscribe function. */
  onChange(listener: (key: ResourceKey) => void): () => void
}
