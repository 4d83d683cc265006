// Config maps: named maps of plain text that tasks, agents and scans read.
import type { ResourceKey } from './resources.ts'

export type ConfigMap = ResourceKey & {
  /** Texts by entry. Entries that are not text (`binaryData` on a cluster) are left out. */
  data: Record<string, string>
  labels: Record<string, string>
  annotations: Record<string, string>
  /** Opaque; changes with every write. */
  resourceVersion: string
  /** RFC 3339, whole seconds. */
  createdAt: string
}

export type ConfigMapDraft = Pick<ConfigMap, 'namespace' | 'name' | 'data'> &
  Partial<Pick<ConfigMap, 'labels' | 'annotations'>>

export interface ConfigMaps {
  get(key: ResourceKey): Promise<ConfigMap | undefined>
  /** In namespace/name order. */
  list(namespace?: string): Promise<ConfigMap[]>
  /** AlreadyExists when the name is taken; NotConfigured where config maps are written with other tools (kubectl). */
  create(draft: ConfigMapDraft): Promise<ConfigMap>
  /**
   * Replaces the data, and labels and annotations when given. NotFound; Conflict when `resourceVersion` is given and is
   * not the current one; NotConfigured as with `create`.
   */
  replace(draft: ConfigMapDraft, resourceVersion?: string): Promise<ConfigMap>
  /** NotFound; NotConfigured as with `create`. */
  remove(key: ResourceKey): Promise<void>
  /** Calls back when a config map is created, changed or removed; returns the unsubscribe function. */
  onChange(listener: (key: ResourceKey) => void): () => void
}
