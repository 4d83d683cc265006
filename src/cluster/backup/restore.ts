// Makes the objects of a backup anew, owners first, each with its status before anything could act on it.
import type { Kind } from '../../contract/kinds/index.ts'
import { hasAttempt, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { restoredAttemptAnnotation } from '../../rules/tasks/end-mark.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import { unlessExists } from '../api/failures.ts'
import { type Collection, collections } from '../api/paths.ts'
import type { KubernetesApi } from '../api.ts'
import type { ApiObject } from '../reflector.ts'
import { appliedAnnotation } from '../resources/entry.ts'
import { collectionOf } from '../resources/exchange.ts'
import { listOwnObjects } from './objects.ts'
import { mapUids } from './uids.ts'

type Api = Pick<KubernetesApi, 'request'>

const namespaceCollection: Collection = { group: '', version: 'v1', plural: 'namespaces' }
/** Requests at a time. */
const breadth = 16

type Owner = { uid: string }

function ownersOf({ metadata }: ApiObject): Owner[] {
  return (metadata.ownerReferences as Owner[] | undefined) ?? []
}

function isForeign({ kind }: ApiObject): boolean {
  return kind === 'Secret' || kind === 'ConfigMap'
}

function collectionOfObject({ kind }: ApiObject): Collection {
  if (kind === 'Secret') return collections.secrets
  return kind === 'ConfigMap' ? collections.configMaps : collectionOf(kind as Kind)
}

/** What ran is not repeated; what was parked goes on when what it waits for comes. */
function markRunning(object: ApiObject): Record<string, string> {
  const task = object as unknown as Task
  if (object.kind !== 'Task' || !hasAttempt(task.status) || isParked(task)) return {}
  return { [restoredAttemptAnnotation]: String(task.status?.attempts ?? 0) }
}

/** The object as it is created. A reference to an owner that is not in the backup would have it collected at once. */
function makeDraft(object: ApiObject, uids: ReadonlyMap<string, string>): object {
  const { metadata, status: _status, ...rest } = object
  const { namespace, name, labels, finalizers } = metadata
  const { [appliedAnnotation]: _applied, ...annotations } = (metadata.annotations ?? {}) as Record<string, string>
  const draft = {
    ...rest,
    metadata: {
      namespace,
      name,
      labels,
      annotations: { ...annotations, ...markRunning(object) },
      finalizers,
      ownerReferences: ownersOf(object).filter(({ uid }) => uids.has(uid)),
    },
  }
  return JSON.parse(mapUids(JSON.stringify(draft), uids))
}

function mapStatus(object: ApiObject, created: ApiObject, uids: ReadonlyMap<string, string>): object {
  const status = JSON.parse(mapUids(JSON.stringify(object.status), uids)) as { observedGeneration?: number }
  const isCurrent = status.observedGeneration === object.metadata.generation
  return isCurrent ? { ...status, observedGeneration: created.metadata.generation } : status
}

async function inBreadth<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: breadth }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

/** Conflict when an object of the service is there already: a restore adds to nothing. */
export async function requireNoObjects(api: Api, namespaces: readonly string[]): Promise<void> {
  const [first] = await listOwnObjects(api, namespaces)
  if (first === undefined) return
  const found = `${first.kind} ${first.metadata.namespace}/${first.metadata.name}`
  throw new SvcError('Conflict', `the cluster has ${found}: a backup is restored where nothing of the service is yet`)
}

async function ensureNamespaces(api: Api, objects: readonly ApiObject[]): Promise<void> {
  for (const name of new Set(objects.map(({ metadata }) => metadata.namespace))) {
    await unlessExists(api.request({ verb: 'create', collection: namespaceCollection, body: { metadata: { name } } }))
  }
}

/** Creates the objects and returns their new uids by the former ones. Secrets and ConfigMaps that are there stay as they are. */
export async function restoreObjects(api: Api, objects: readonly ApiObject[]): Promise<Map<string, string>> {
  const uids = new Map<string, string>()
  const former = new Set(objects.map(({ metadata }) => metadata.uid))

  async function restoreOne(object: ApiObject): Promise<void> {
    const { namespace = '', name, uid } = object.metadata
    const collection = collectionOfObject(object)
    const create = api.request<ApiObject>({ verb: 'create', collection, namespace, body: makeDraft(object, uids) })
    if (isForeign(object)) return void (await unlessExists(create))
    const created = await create
    uids.set(uid, created.metadata.uid)
    if (object.status === undefined) return
    const body = { ...created, status: mapStatus(object, created, uids) }
    await api.request({ verb: 'update', subresource: 'status', collection, namespace, name, body })
  }

  await ensureNamespaces(api, objects)
  let left = objects
  while (left.length > 0) {
    const isReady = (object: ApiObject) => ownersOf(object).every(({ uid }) => !former.has(uid) || uids.has(uid))
    const ready = new Set(left.filter(isReady))
    if (ready.size === 0) throw new SvcError('InvalidRequest', 'the objects of this backup own each other in a circle')
    await inBreadth([...ready], restoreOne)
    left = left.filter((object) => !ready.has(object))
  }
  return uids
}
