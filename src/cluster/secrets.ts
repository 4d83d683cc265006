// The Secrets port on Secrets of the cluster. Values are cached only while a watch guarantees that they are current.
import { apiVersion } from '../contract/kinds/resources/metadata.ts'
import { isSvcError, SvcError } from '../errors.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock, Ids } from '../lib/clock.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { SecretChange, SecretDraft, SecretMetadata, SecretOwner, Secrets } from '../ports/resources/secrets.ts'
import { secretOwnerAnnotation } from '../rules/identity/token-propagation.ts'
import { orAbsent } from './api/failures.ts'
import { type ApiTarget, collections, listScopes } from './api/paths.ts'
import { type KubernetesApi, listAllPages } from './api.ts'
import { createMetadataWatch } from './metadata-watch.ts'
import { appliedAnnotation } from './resources/entry.ts'

export type KubernetesSecretsOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  /** Absent or empty: all namespaces. */
  namespaces?: readonly string[]
  /** Called with errors of the watch, which recovers by itself. */
  onFault?: (error: SvcError) => void
}

export interface KubernetesSecrets extends Secrets {
  /** Resolves when changes are being reported; Forbidden when the service may not read secrets. */
  ready: Promise<void>
  close(): Promise<void>
}

type Secret = {
  metadata: ResourceKey & { uid: string; creationTimestamp: string; annotations?: Record<string, string> }
  type?: string
  data?: Record<string, string>
}

/** Helm releases and account tokens may not be named, and can be megabytes. */
const namedTypes = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token'
/** How many secrets' values are cached; the oldest are dropped first. */
const maxRemembered = 500

function decodeValues(secret: Secret): Record<string, string> {
  const entries = Object.entries(secret.data ?? {})
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]))
}

function encodeValues(values: Record<string, string>): Record<string, string> {
  const entries = Object.entries(values)
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]))
}

function describeSecret({ metadata, type = 'Opaque', data = {} }: Secret): SecretMetadata {
  // The annotation of `kubectl apply` contains the values again.
  const { [appliedAnnotation]: _values, ...annotations } = metadata.annotations ?? {}
  const { namespace, name, creationTimestamp: createdAt } = metadata
  return { namespace, name, type, keys: Object.keys(data).sort(), annotations, createdAt }
}

function compareSecrets(left: Secret, right: Secret): number {
  const [first, second] = [left, right].map(({ metadata }) => `${metadata.namespace}\0${metadata.name}`)
  return (first ?? '') < (second ?? '') ? -1 : 1
}

function translate(error: unknown, { namespace, name }: ResourceKey): unknown {
  if (isSvcError(error, 'AlreadyExists')) {
    const message = `The secret ${namespace}/${name} exists already: delete it first, or choose another name.`
    return new SvcError('AlreadyExists', message)
  }
  if (!isSvcError(error, 'NotFound')) return error
  const isNamespace = error.message.startsWith('namespaces ')
  const message = isNamespace
    ? `There is no namespace ${namespace}: create it, or choose another.`
    : `There is no secret ${namespace}/${name}.`
  return new SvcError('NotFound', message)
}

/** A secret with an owner is removed with it, whoever deletes that. */
function describeOwner({ name, uid }: SecretOwner) {
  const reference = { apiVersion, kind: 'Task', name, uid, controller: false, blockOwnerDeletion: false }
  return { annotations: { [secretOwnerAnnotation]: uid }, ownerReferences: [reference] }
}

/** Requests for secrets. */
function createSecretRequests(api: KubernetesApi) {
  const collection = collections.secrets

  const find = ({ namespace, name }: ResourceKey) =>
    orAbsent(api.request<Secret>({ verb: 'get', collection, namespace, name }))

  const list = (scope: Pick<ApiTarget, 'namespace'>) =>
    listAllPages<Secret>(api, { collection, ...scope, query: { fieldSelector: namedTypes } })

  async function create({ namespace, name, stringData, annotations, owner }: SecretDraft): Promise<Secret> {
    const owned = owner && describeOwner(owner)
    const metadata = { namespace, name, annotations, ...owned }
    if (owned) metadata.annotations = { ...annotations, ...owned.annotations }
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: encodeValues(stringData) }
    try {
      return await api.request<Secret>({ verb: 'create', collection, namespace, body })
    } catch (error) {
      throw translate(error, { namespace, name })
    }
  }

  async function remove({ namespace, name }: ResourceKey): Promise<void> {
    try {
      await api.request({ verb: 'delete', collection, namespace, name })
    } catch (error) {
      throw translate(error, { namespace, name })
    }
  }

  async function patch({ namespace, name }: ResourceKey, body: object): Promise<Secret> {
    try {
      return await api.request<Secret>({ verb: 'patch', patch: 'merge', collection, namespace, name, body })
    } catch (error) {
      throw translate(error, { namespace, name })
    }
  }

  /** In a merge patch null takes a key out (RFC 7386). */
  function update(key: ResourceKey, { stringData, remove }: SecretChange): Promise<Secret> {
    const removed = Object.fromEntries(remove.map((entry) => [entry, null]))
    return patch(key, { data: { ...removed, ...encodeValues(stringData) } })
  }

  const setOwner = async (key: ResourceKey, owner: SecretOwner): Promise<void> => {
    await patch(key, { metadata: describeOwner(owner) })
  }

  return { find, list, create, update, remove, setOwner }
}

/** Values of the most recently read secrets. */
function createValueCache() {
  const known = new BoundedMap<string, Record<string, string>>({ max: maxRemembered })
  const format = ({ namespace, name }: ResourceKey) => `${namespace}/${name}`
  return {
    get: (key: ResourceKey) => known.get(format(key)),
    forget: (key: ResourceKey) => void known.delete(format(key)),
    keep: (key: ResourceKey, values: Record<string, string>) => known.set(format(key), values),
  }
}

export function createKubernetesSecrets(options: KubernetesSecretsOptions): KubernetesSecrets {
  const requests = createSecretRequests(options.api)
  const memory = createValueCache()
  const listeners = new Set<(key: ResourceKey) => void>()
  const watched = { ...options, collection: collections.secrets, fieldSelector: namedTypes }
  const watch = createMetadataWatch(watched, (key) => {
    memory.forget(key)
    for (const listener of listeners) listener(key)
  })

  /** Cached values are valid as long as the watch is open and reported no change while they were read. */
  async function readValues(key: ResourceKey): Promise<Record<string, string> | undefined> {
    const remembered = watch.isCurrent() ? memory.get(key) : undefined
    if (remembered !== undefined) return remembered
    const before = watch.changes()
    const secret = await requests.find(key)
    const values = secret && decodeValues(secret)
    if (values !== undefined && watch.changes() === before) memory.keep(key, values)
    return values
  }

  return {
    read: async (key) => {
      const values = await readValues(key)
      return values && { ...values }
    },
    describe: async (key) => {
      const secret = await requests.find(key)
      return secret && describeSecret(secret)
    },
    list: async (namespace) => {
      const scopes = listScopes(namespace === undefined ? options.namespaces : [namespace])
      const found = await Promise.all(scopes.map(requests.list))
      return found.flat().sort(compareSecrets).map(describeSecret)
    },
    create: async (draft) => describeSecret(await requests.create(draft)),
    update: async (key, change) => {
      const changed = await requests.update(key, change)
      memory.forget(key)
      return describeSecret(changed)
    },
    remove: async (key) => {
      await requests.remove(key)
      memory.forget(key)
    },
    setOwner: requests.setOwner,
    // The cluster's garbage collector does it, by the owner references.
    removeOwned: async () => undefined,
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    ready: watch.ready,
    close: watch.close,
  }
}
