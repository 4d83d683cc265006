// Secrets of tasks on a real cluster: its garbage collector takes them with their owner.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { collections } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createKubernetesResources, type KubernetesResources } from '../../src/cluster/resources.ts'
import { createKubernetesSecrets, type KubernetesSecrets } from '../../src/cluster/secrets.ts'
import { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'

describeOnCluster('the secret of a task on a cluster', () => {
  let api: KubernetesApi
  let resources: KubernetesResources
  let secrets: KubernetesSecrets
  let namespace: string

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    namespace = await makeNamespace(api, 'tokens')
    resources = await createKubernetesResources({ api, clock, ids, namespace })
    secrets = createKubernetesSecrets({ api, clock, ids })
    await secrets.ready
  })
  afterAll(async () => {
    await secrets.close()
    await resources.close()
    await dropNamespace(api, namespace)
    await api.close()
  })

  async function makeTask(name: string) {
    const spec = TaskSpec.parse({ type: 'container', command: ['true'], schedule: '0 0 1 1 *', suspend: true })
    return (await resources.create('Task', { metadata: { namespace, name }, spec })).metadata
  }

  it('belongs to the parent, then to the child alone, and is deleted with it', async () => {
    const [parent, child] = [await makeTask('parent'), await makeTask('child')]
    const key = { namespace, name: 'parent-txn-1-0123456789' }
    const read = async () => {
      type Stored = { metadata: { ownerReferences?: object[]; annotations?: Record<string, string> } }
      return (await api.request<Stored>({ verb: 'get', collection: collections.secrets, ...key })).metadata
    }
    const owned = ({ name, uid }: { name: string; uid: string }) => ({
      annotations: { 'svc.ai/owner-task-uid': uid, note: 'kept' },
      ownerReferences: [{ kind: 'Task', name, uid }],
    })
    const draft = { ...key, stringData: { token: 'opaque' }, annotations: { note: 'kept' } }
    await secrets.create({ ...draft, owner: parent })
    expect(await read()).toMatchObject(owned(parent))
    await secrets.setOwner(key, child)
    const stored = await read()
    expect(stored).toMatchObject(owned(child))
    expect(stored.ownerReferences).toHaveLength(1)
    expect((await secrets.describe(key))?.annotations['svc.ai/owner-task-uid']).toBe(child.uid)
    expect(await secrets.read(key)).toEqual({ token: 'opaque' })
    await resources.remove('Task', child)
    await expect.poll(() => secrets.describe(key), { timeout: 100_000, interval: 500 }).toBeUndefined()
  })

  it('cannot be given to an owner once it is deleted', async () => {
    const owner = { name: 'parent', uid: 'uid-1' }
    await expect(secrets.setOwner({ namespace, name: 'none' }, owner)).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
