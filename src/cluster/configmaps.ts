// The ConfigMaps port on a cluster, read-only: kubectl writes them.
import { isSvcError, SvcError } from '../errors.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { ConfigMap, ConfigMaps } from '../ports/resources/configmaps.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { type ApiTarget, collections, listScopes } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'
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
type Page = { items: Stored[]; metadata: { continue?: string } }

const collection = collections.configMaps
const pageSize = 500

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

  async function listScope(scope: Pick<ApiTarget, 'namespace'>): Promise<ConfigMap[]> {
    const found: ConfigMap[] = []
    let token: string | undefined
    do {
      const query = { limit: pageSize, continue: token }
      const page = await api.request<Page>({ verb: 'list', collection, ...scope, query })
      found.push(...page.items.map(describe))
      token = page.metadata.continue || undefined
    } while (token !== undefined)
    return found
  }

  const watch = createMetadataWatch({ ...options, collection }, (key) => {
    for (const listener of listeners) listener(key)
  })
  return {
    async get({ namespace, name }) {
      try {
        return describe(await api.request<Stored>({ verb: 'get', collection, namespace, name }))
      } catch (error) {
        if (isSvcError(error, 'NotFound')) return undefined
        throw error
      }
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
