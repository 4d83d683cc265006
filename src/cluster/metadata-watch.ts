// Reports which objects of a collection change, from their metadata alone: their content is neither sent nor held.
import type { SvcError } from '../errors.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { type Collection, listScopes } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'
import { createReflector, joinReflectors, type Reflector } from './reflector.ts'

export type MetadataWatchOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  collection: Collection
  fieldSelector?: string
  /** Absent or empty: all namespaces. */
  namespaces?: readonly string[]
  onFault?: (error: SvcError) => void
}

export type MetadataWatch = {
  /** Resolves after the first list. */
  ready: Promise<void>
  /** Whether changes are reported as they happen. */
  isCurrent(): boolean
  /** How many changes have been reported. */
  changes(): number
  close(): Promise<void>
}

type Seen = ResourceKey & { version: string }

function listDifferences(before: Map<string, Seen>, after: Map<string, Seen>): Seen[] {
  const changed = [...after].filter(([id, secret]) => before.get(id)?.version !== secret.version)
  const removed = [...before].filter(([id]) => !after.has(id))
  return [...changed, ...removed].map(([, secret]) => secret)
}

type Scoped = Omit<MetadataWatchOptions, 'namespaces'> & { namespace?: string }

function followScope(options: Scoped, notify: (key: ResourceKey) => void): Reflector {
  let seen: Map<string, Seen> | undefined

  /** After a gap, everything that differs from what was last seen has changed. */
  function reset(all: Seen[]): void {
    const before = seen
    seen = new Map(all.map((secret) => [`${secret.namespace}/${secret.name}`, secret]))
    if (before !== undefined) for (const secret of listDifferences(before, seen)) notify(secret)
  }

  return createReflector<Seen>({
    ...options,
    metadataOnly: true,
    convert: ({ metadata }) => ({
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      version: metadata.resourceVersion,
    }),
    onReset: reset,
    onEvent: (type, secret) => {
      const id = `${secret.namespace}/${secret.name}`
      if (type === 'DELETED') seen?.delete(id)
      else seen?.set(id, secret)
      notify(secret)
    },
  })
}

export function createMetadataWatch(
  options: MetadataWatchOptions,
  onChange: (key: ResourceKey) => void,
): MetadataWatch {
  const { namespaces, ...shared } = options
  let changes = 0

  function notify({ namespace, name }: ResourceKey): void {
    changes += 1
    onChange({ namespace, name })
  }

  const followed = joinReflectors(listScopes(namespaces).map((scope) => followScope({ ...shared, ...scope }, notify)))
  return { ...followed, changes: () => changes }
}
