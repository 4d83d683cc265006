// Config maps: readable in both modes, writable where the service itself stores them.
import type { ConfigMapBody } from '../../contract/api/resources/configmaps.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ConfigMap, ConfigMapDraft } from '../../ports/resources/configmaps.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { matchesLabels, parseLabelSelector } from '../../rules/resources/label-selector.ts'
import { matchesSearch } from '../../rules/resources/resource-fields.ts'
import { listWhole, requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type ConfigMapUsecases = {
  /** In order of namespace and name; without a namespace of all that the caller may list. */
  list(
    caller: Caller,
    query: { namespace: string | undefined; labelSelector?: string | undefined; search?: string | undefined },
  ): Promise<ConfigMap[]>
  /** NotFound. */
  get(caller: Caller, key: ResourceKey): Promise<ConfigMap>
  /** InvalidRequest without a name; AlreadyExists; NotConfigured on a cluster. */
  create(caller: Caller, namespace: string, body: ConfigMapBody): Promise<ConfigMap>
  /** Keeps labels and annotations that are not given. NotFound; Conflict; NotConfigured on a cluster. */
  replace(caller: Caller, key: ResourceKey, body: ConfigMapBody): Promise<ConfigMap>
  /** NotFound; NotConfigured on a cluster. */
  remove(caller: Caller, key: ResourceKey): Promise<void>
}

function draftOf(key: ResourceKey, { data, metadata = {} }: ConfigMapBody): ConfigMapDraft {
  const { labels, annotations } = metadata
  return { ...key, data, labels, annotations }
}

function nameIn({ name, metadata }: ConfigMapBody): string | undefined {
  return name ?? metadata?.name
}

export function createConfigMapUsecases({ ports }: UsecaseDeps): ConfigMapUsecases {
  const { configMaps } = ports
  return {
    async list(caller, { namespace, labelSelector = '', search }) {
      const requirements = parseLabelSelector(labelSelector)
      const all = await listWhole(ports, caller, 'ConfigMap', { namespace, read: configMaps.list })
      return all.filter(({ name, labels }) => matchesSearch(name, search) && matchesLabels(requirements, labels))
    },
    async get(caller, key) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'ConfigMap', ...key })
      const found = await configMaps.get(key)
      if (found !== undefined) return found
      throw new SvcError('NotFound', `config map not found: "${key.name}" in namespace "${key.namespace}"`)
    },
    async create(caller, namespace, body) {
      const name = nameIn(body)
      if (name === undefined) {
        const details = [{ path: 'name', message: 'is required' }]
        throw new SvcError('InvalidRequest', 'invalid config map: name is required', { details })
      }
      await requireAccess(ports, caller, { verb: 'create', kind: 'ConfigMap', namespace, name })
      return configMaps.create(draftOf({ namespace, name }, body))
    },
    async replace(caller, key, body) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'ConfigMap', ...key })
      const name = nameIn(body) ?? key.name
      if (name !== key.name) {
        const message = `is "${name}", but the path names "${key.name}"; a config map keeps its name`
        throw new SvcError('InvalidRequest', `invalid config map: name ${message}`, {
          details: [{ path: 'name', message }],
        })
      }
      return configMaps.replace(draftOf(key, body), body.metadata?.resourceVersion)
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'ConfigMap', ...key })
      await configMaps.remove(key)
    },
  }
}
