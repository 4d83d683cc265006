// Secrets (write, list without values, change, remove) and config maps (writable where the service itself stores them).
import type { ConfigMapBody } from '../../contract/api/resources/configmaps.ts'
import type { SecretCreate, SecretUpdate } from '../../contract/api/resources/secrets.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ConfigMap, ConfigMapDraft } from '../../ports/resources/configmaps.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { SecretMetadata } from '../../ports/resources/secrets.ts'
import { secretOwnerAnnotation } from '../../rules/identity/token-propagation.ts'
import { allowedHostsAnnotation } from '../../rules/providers/address.ts'
import { matchesSearch } from '../../rules/resources/fields.ts'
import { matchesLabels, parseLabelSelector } from '../../rules/resources/selectors.ts'
import { listWhole, requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireActingInUsersOf } from './admission/acting.ts'
import { explainAbsent, maxGuessed } from './listing.ts'

const serviceAccountType = 'kubernetes.io/service-account-token'

const namesOf = (all: readonly { name: string }[]) => all.slice(0, maxGuessed).map(({ name }) => name)

export type SecretUsecases = {
  /**
   * In order of namespace and name, without a namespace of all that the caller may list; tokens of service accounts are
   * left out.
   */
  list(caller: Caller, namespace: string | undefined): Promise<SecretMetadata[]>
  /** AlreadyExists. */
  create(caller: Caller, draft: SecretCreate & { namespace: string }): Promise<SecretMetadata>
  /** The entries that are not named stay. NotFound; InvalidRequest for an entry that is not there, or when none would be left. */
  update(caller: Caller, key: ResourceKey, change: SecretUpdate): Promise<SecretMetadata>
  /** NotFound. */
  remove(caller: Caller, key: ResourceKey): Promise<void>
}

/** Tokens of service accounts and of single tasks are written by others than people. */
const isOfOthers = ({ type, annotations }: SecretMetadata) =>
  type === serviceAccountType || annotations[secretOwnerAnnotation] !== undefined

function checkChange({ name, keys }: SecretMetadata, { stringData, remove }: SecretUpdate): void {
  const absent = remove.find((entry) => !keys.includes(entry))
  if (absent !== undefined) throw new SvcError('InvalidRequest', `secret "${name}" has no entry "${absent}"`)
  const isEmptied = new Set(remove).size === keys.length && Object.keys(stringData).length === 0
  if (isEmptied) throw new SvcError('InvalidRequest', `secret "${name}" would have no entry left; delete it instead`)
}

export function createSecretUsecases({ ports }: UsecaseDeps): SecretUsecases {
  const { secrets } = ports

  const list: SecretUsecases['list'] = async (caller, namespace) => {
    const all = await listWhole(ports, caller, 'Secret', { namespace, read: secrets.list })
    return all.filter((secret) => secret.type !== serviceAccountType)
  }

  const missing = (caller: Caller, key: ResourceKey) =>
    explainAbsent('secret', key, async () => namesOf(await list(caller, key.namespace)))

  return {
    list,
    async create(caller, { name, namespace, stringData, allowedHosts }) {
      await requireAccess(ports, caller, { verb: 'create', kind: 'Secret', namespace, name })
      const annotations: Record<string, string> = {}
      if (allowedHosts !== undefined) annotations[allowedHostsAnnotation] = allowedHosts.join(',')
      return secrets.create({ name, namespace, stringData, annotations })
    },
    async update(caller, key, change) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Secret', ...key })
      const secret = await secrets.describe(key)
      if (secret === undefined || isOfOthers(secret)) throw await missing(caller, key)
      checkChange(secret, change)
      return secrets.update(key, change)
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Secret', ...key })
      await secrets.remove(key).catch(async (error: unknown) => {
        throw isSvcError(error, 'NotFound') ? await missing(caller, key) : error
      })
    },
  }
}

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

export function createConfigMapUsecases(deps: UsecaseDeps): ConfigMapUsecases {
  const { ports } = deps
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
      throw await explainAbsent('config map', key, async () =>
        namesOf(await listWhole(ports, caller, 'ConfigMap', { namespace: key.namespace, read: configMaps.list })),
      )
    },
    async create(caller, namespace, body) {
      const name = nameIn(body)
      if (name === undefined) {
        const details = [{ path: 'name', message: 'is required' }]
        throw new SvcError('InvalidRequest', 'invalid config map: name is required', { details })
      }
      await requireAccess(ports, caller, { verb: 'create', kind: 'ConfigMap', namespace, name })
      await requireActingInUsersOf('ConfigMap', { caller, namespace, name }, deps)
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
      await requireActingInUsersOf('ConfigMap', { caller, ...key }, deps)
      return configMaps.replace(draftOf(key, body), body.metadata?.resourceVersion)
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'ConfigMap', ...key })
      await configMaps.remove(key)
    },
  }
}
