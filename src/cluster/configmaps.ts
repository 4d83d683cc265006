// The ConfigMaps port on a cluster, read-only: kubectl writes them.
import { SvcError } from '../errors.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { ConfigMap, ConfigMaps } from '../ports/resources/configmaps.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { orAbsent } from './api/failures.ts'
import { type ApiTarget, collections, listScopes } from './api/paths.ts'
import { type KubernetesApi, listAllPages } from './api.ts'
import { createMetadataWatch } from './metadata-watch.ts'
import { appliedAnnotation } from './resources/entry.ts'

export type KubernetesConfigMapsOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  /** Absent or empty: all namespaces. */
  namespaces?: readonly string[]
  /** Called with errors of the watch, which recovers by itself. */
  onFault?: (error: SvcError) => void
}

export type KubernetesConfigMaps = ConfigMaps & { close(): Promise<void> }

type Stored = {
  metadata: ResourceKey & {
    resourceVersion: string
    creationTimestamp: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  data?: Record<string, string>
}

const collection = collections.configMaps

function describe({ metadata, data = {} }: Stored): ConfigMap {
  const { namespace, name, resourceVersion, creationTimestamp: createdAt, labels = {} } = metadata
  const { [appliedAnnotation]: _applied, ...annotations } = metadata.annotations ?? {}
  return { namespace, name, data, labels, annotations, resourceVersion, createdAt }
}

function refuse(): Promise<never> {
  return Promise.reject(
    new SvcError('NotConfigured', 'on a cluster config maps are written with kubectl; this service only reads them'),
  )
}

export function createKubernetesConfigMaps(options: KubernetesConfigMapsOptions): KubernetesConfigMaps {
  const { api } = options
  const listeners = new Set<(key: ResourceKey) => void>()

  const listScope = async (scope: Pick<ApiTarget, 'namespace'>) =>
    (await listAllPages<Stored>(api, { collection, ...scope })).map(describe)

  const watch = createMetadataWatch({ ...options, collection }, (key) => {
    for (const listener of listeners) listener(key)
  })
  return {
    async get({ namespace, name }) {
      const found = await orAbsent(api.request<Stored>({ verb: 'get', collection, namespace, name }))
      return found && describe(found)
    },
    async list(namespace) {
      const scopes = listScopes(namespace === undefined ? options.namespaces : [namespace])
      return (await Promise.all(scopes.map(listScope))).flat()
    },
    create: refuse,
    replace: refuse,
    remove: refuse,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: watch.close,
  }
}
