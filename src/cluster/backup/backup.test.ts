// Objects out of one cluster and into another, whose API server gives each a new uid.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SvcError } from '../../errors.ts'
import type { ApiRequest } from '../api.ts'
import type { ApiObject } from '../reflector.ts'
import { readBackupObjects } from './objects.ts'
import { requireNoObjects, restoreObjects } from './restore.ts'
import { mapUids } from './uids.ts'

/** An API server that keeps what it is given as the real one does: a new uid, and no status from a creation. */
function openCluster(pageSize = 2) {
  const stored = new Map<string, ApiObject>()
  const log: string[] = []
  const keyOf = ({ collection, namespace, name }: ApiRequest) => `${collection.plural}/${namespace}/${name}`

  function list({ collection, query = {} }: ApiRequest) {
    const all = [...stored.entries()].filter(([key]) => key.startsWith(`${collection.plural}/`))
    const from = Number(query.continue ?? 0)
    const items = all.slice(from, from + pageSize).map(([, object]) => object)
    return { items, metadata: { continue: from + pageSize < all.length ? String(from + pageSize) : '' } }
  }

  function create(request: ApiRequest) {
    const { metadata, status: _status, ...rest } = request.body as ApiObject
    const key = keyOf({ ...request, name: metadata.name })
    if (stored.has(key)) throw new SvcError('AlreadyExists', `${key} is there`)
    const created = { ...rest, metadata: { ...metadata, uid: randomUUID(), resourceVersion: '1', generation: 1 } }
    stored.set(key, created)
    log.push(`create ${metadata.name}`)
    return created
  }

  function updateStatus(request: ApiRequest) {
    const object = stored.get(keyOf(request))
    if (object === undefined || request.subresource !== 'status') throw new SvcError('NotFound', keyOf(request))
    stored.set(keyOf(request), { ...object, status: (request.body as ApiObject).status })
    log.push(`status ${request.name}`)
    return object
  }

  function get(request: ApiRequest) {
    const found = stored.get(keyOf(request))
    if (found === undefined) throw new SvcError('NotFound', `${keyOf(request)} is not there`)
    return found
  }

  const verbs: Partial<Record<ApiRequest['verb'], (request: ApiRequest) => unknown>> = {
    list,
    create,
    get,
    update: updateStatus,
  }
  const api = { request: async <T>(request: ApiRequest) => verbs[request.verb]?.(request) as T }
  const put = (plural: string, object: object) => {
    const { metadata: given, ...rest } = object as { metadata: { name: string; uid?: string } }
    const metadata = { resourceVersion: '7', namespace: 'team', ...given, uid: given.uid ?? randomUUID() }
    stored.set(`${plural}/${metadata.namespace}/${metadata.name}`, { ...rest, metadata })
    return metadata.uid
  }
  const find = (plural: string, name: string) => stored.get(`${plural}/team/${name}`)
  return { api, put, find, log }
}

const own = (uid: string, name: string) => ({ apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', name, uid })

function fill() {
  const cluster = openCluster()
  const parent = randomUUID()
  // The child comes first in a list, by its name.
  const child = cluster.put('tasks', {
    metadata: {
      name: 'a-child',
      generation: 4,
      ownerReferences: [own(parent, 'parent'), own(randomUUID(), 'stranger')],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', team: 'red' },
    },
    spec: { type: 'container' },
    status: { phase: 'Running', attempts: 2, observedGeneration: 4 },
  })
  cluster.put('tasks', {
    metadata: { name: 'parent', uid: parent, finalizers: ['svc.ai/cleanup'], generation: 1 },
    spec: { type: 'container', env: [{ name: 'K', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } }] },
    status: { phase: 'Succeeded', attempts: 1, message: `made ${child}` },
  })
  cluster.put('tasks', { metadata: { name: 'new', generation: 1 }, spec: { type: 'container' } })
  cluster.put('tasks', { metadata: { name: 'going', deletionTimestamp: '2026-03-01T12:00:00Z' }, spec: {} })
  cluster.put('secrets', { metadata: { name: 'key' }, data: { k: 'djE=' } })
  cluster.put('secrets', { metadata: { name: 'unrelated' }, data: {} })
  return { cluster, parent, child }
}

describe('the objects of a backup', () => {
  it('are all of every page, with status, and Secrets only when asked for', async () => {
    const { cluster } = fill()
    const namesOf = async (withSecrets: boolean) =>
      (await readBackupObjects(cluster.api, { namespaces: [], withSecrets })).map(({ kind, metadata }) => [
        kind,
        metadata.name,
      ])
    const tasks = ['a-child', 'parent', 'new'].map((name) => ['Task', name])
    expect(await namesOf(false)).toEqual(tasks)
    expect(await namesOf(true)).toEqual([['Secret', 'key'], ...tasks])
  })
})

describe('restored objects', () => {
  it('come after their owners, with status, and refer to new uids', async () => {
    const { cluster, parent, child } = fill()
    const target = openCluster()
    const objects = await readBackupObjects(cluster.api, { namespaces: [], withSecrets: true })
    const uids = await restoreObjects(target.api, objects)
    expect(target.log.indexOf('status parent')).toBeLessThan(target.log.indexOf('create a-child'))
    const restored = target.find('tasks', 'a-child')
    // An owner that is in no backup would have it collected.
    expect(restored?.metadata.ownerReferences).toEqual([own(uids.get(parent) ?? '', 'parent')])
    expect(restored?.metadata.annotations).toEqual({ team: 'red', 'svc.ai/restored-attempt': '2' })
    expect(restored?.status).toEqual({ phase: 'Running', attempts: 2, observedGeneration: 1 })
    expect(target.find('tasks', 'parent')).toMatchObject({
      metadata: { finalizers: ['svc.ai/cleanup'], annotations: {} },
      status: { phase: 'Succeeded' },
    })
    expect(target.find('tasks', 'new')?.status).toBeUndefined()
    expect(target.find('secrets', 'key')?.data).toEqual({ k: 'djE=' })
    expect(mapUids(`{"task_uid":"${child}","other":"x"}`, uids)).toBe(`{"task_uid":"${uids.get(child)}","other":"x"}`)
  })

  it('are not mixed with others', async () => {
    const { cluster } = fill()
    await expect(requireNoObjects(cluster.api, [])).rejects.toThrow(/the cluster has Task team\/a-child/)
    await expect(requireNoObjects(openCluster().api, [])).resolves.toBeUndefined()
  })
})
