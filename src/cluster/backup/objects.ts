// The objects of a service as a backup has them: its kinds with their status, and what they name that is not theirs.
import { apiVersion, type Kind, kindNames } from '../../contract/kinds/index.ts'
import { findReferences } from '../../contract/schema/reference-paths.ts'
import { orAbsent } from '../api/failures.ts'
import { collections, listScopes } from '../api/paths.ts'
import { type KubernetesApi, listAllPages } from '../api.ts'
import type { ApiObject } from '../reflector.ts'
import { collectionOf } from '../resources/exchange.ts'

type Api = Pick<KubernetesApi, 'request'>

export type BackupScope = {
  /** Empty: all. */
  namespaces: readonly string[]
  withSecrets: boolean
}

/** A Secret or ConfigMap that an object names. */
type Named = { kind: 'Secret' | 'ConfigMap'; namespace: string; name: string }

const foreign = { Secret: collections.secrets, ConfigMap: collections.configMaps } as const

/** Every object of the service's kinds, page after page; one that is being removed is left out. */
export async function listOwnObjects(api: Api, namespaces: readonly string[]): Promise<ApiObject[]> {
  const all: ApiObject[] = []
  for (const kind of kindNames) {
    for (const scope of listScopes(namespaces)) {
      const found = await listAllPages<ApiObject>(api, { collection: collectionOf(kind), ...scope })
      const present = found.filter(({ metadata }) => !('deletionTimestamp' in metadata))
      all.push(...present.map((object) => ({ ...object, apiVersion, kind })))
    }
  }
  return all
}

function listNamed({ kind, metadata, spec }: ApiObject): Named[] {
  return findReferences(kind as Kind, spec as never).flatMap(
    ({ kind: target, name, namespace = metadata.namespace }) =>
      (target === 'Secret' || target === 'ConfigMap') && namespace !== undefined
        ? [{ kind: target, namespace, name }]
        : [],
  )
}

/** Undefined for what has an owner, which makes it anew. */
function nameForeign({ metadata, ...object }: ApiObject, { kind, namespace, name }: Named): ApiObject | undefined {
  if (Array.isArray(metadata.ownerReferences)) return undefined
  return { ...object, apiVersion: 'v1', kind, metadata: { ...metadata, namespace, name } }
}

/** The Secrets and ConfigMaps that the objects name and that are there. Those of a task alone are made anew with it. */
async function readForeignObjects(api: Api, named: Iterable<Named>): Promise<ApiObject[]> {
  const objects: ApiObject[] = []
  for (const one of named) {
    const { kind, namespace, name } = one
    const found = await orAbsent(api.request<ApiObject>({ verb: 'get', collection: foreign[kind], namespace, name }))
    const object = found && nameForeign(found, one)
    if (object !== undefined) objects.push(object)
  }
  return objects
}

/** All objects of a backup, what is named before what names it. */
export async function readBackupObjects(api: Api, { namespaces, withSecrets }: BackupScope): Promise<ApiObject[]> {
  const own = await listOwnObjects(api, namespaces)
  const named = own.flatMap(listNamed).filter(({ kind }) => withSecrets || kind !== 'Secret')
  const once = new Map(named.map((one) => [`${one.kind}/${one.namespace}/${one.name}`, one]))
  return [...(await readForeignObjects(api, once.values())), ...own]
}

/** How many Secrets the objects name. */
export function countNamedSecrets(objects: readonly ApiObject[]): number {
  const own = objects.filter(({ kind }) => kind !== 'Secret' && kind !== 'ConfigMap')
  const secrets = own.flatMap(listNamed).filter(({ kind }) => kind === 'Secret')
  return new Set(secrets.map(({ namespace, name }) => `${namespace}/${name}`)).size
}
