// Secrets on a real API server: the suite that every keeper of secrets runs, and what a cluster adds.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { collections } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createKubernetesSecrets, type KubernetesSecrets } from '../../src/cluster/secrets.ts'
import { isSvcError } from '../../src/errors.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type { ResourceKey } from '../../src/ports/resources/resources.ts'
import type { Secrets } from '../../src/ports/resources/secrets.ts'
import { describeSecrets } from '../contracts/secrets.contract.ts'
import { describeOnCluster, dropNamespace, openClusterApi, openProxiedApi } from '../fixtures/cluster.ts'

const words = ['a', 'b', 'default', 'none', 'other']

/** The namespaces that the suite names, as ones of this run: it is written for a store that nobody else uses. */
function inNamespaces(secrets: Secrets, prefix: string): Secrets {
  const enter = <T extends { namespace: string }>(key: T): T => ({ ...key, namespace: `${prefix}-${key.namespace}` })
  const leave = <T extends { namespace: string }>(key: T): T => ({
    ...key,
    namespace: key.namespace.slice(prefix.length + 1),
  })
  const isOurs = ({ namespace }: ResourceKey) => namespace.startsWith(`${prefix}-`)
  return {
    read: (key) => secrets.read(enter(key)),
    describe: async (key) => {
      const found = await secrets.describe(enter(key))
      return found && leave(found)
    },
    list: async (namespace) => {
      const all = await secrets.list(namespace && `${prefix}-${namespace}`)
      return all.filter(isOurs).map(leave)
    },
    create: async (draft) => leave(await secrets.create(enter(draft))),
    update: async (key, change) => leave(await secrets.update(enter(key), change)),
    remove: (key) => secrets.remove(enter(key)),
    setOwner: (key, owner) => secrets.setOwner(enter(key), owner),
    removeOwned: (namespace, uid) => secrets.removeOwned(`${prefix}-${namespace}`, uid),
    onChange: (listener) => secrets.onChange((key) => (isOurs(key) ? listener(leave(key)) : undefined)),
  }
}

describeOnCluster('on a cluster', () => {
  let api: KubernetesApi
  let prefix: string
  let namespaces: string[]

  beforeAll(async () => {
    api = await openClusterApi()
    prefix = `res-${ids.hex(6)}`
    namespaces = words.map((word) => `${prefix}-${word}`)
    for (const name of namespaces) {
      const body = { metadata: { name } }
      await api.request({ verb: 'create', collection: { group: '', version: 'v1', plural: 'namespaces' }, body })
    }
  })
  afterAll(async () => {
    for (const name of namespaces) await dropNamespace(api, name)
    await api.close()
  })
  const clear = async () => {
    for (const namespace of namespaces) {
      await api.request({ verb: 'deletecollection', collection: collections.secrets, namespace })
    }
  }
  const open = () => createKubernetesSecrets({ api, clock, ids })

  describeSecrets('the Kubernetes API', async () => {
    const secrets = open()
    await secrets.ready
    const close = async () => {
      await secrets.close()
      await clear()
    }
    return { secrets: inNamespaces(secrets, prefix), close }
  })

  describeOnCluster('secrets in a cluster alone', () => {
    let opened: KubernetesSecrets[] = []
    afterEach(async () => {
      for (const secrets of opened) await secrets.close()
      opened = []
      await clear()
    })
    const openReady = async (over = api) => {
      const secrets = createKubernetesSecrets({ api: over, clock, ids })
      opened.push(secrets)
      await secrets.ready
      return secrets
    }
    const key = () => ({ namespace: `${prefix}-default`, name: 'vendor' })
    /** Other files change theirs meanwhile. */
    const listChanges = (secrets: KubernetesSecrets) => {
      const changed: ResourceKey[] = []
      secrets.onChange((one) => one.namespace === key().namespace && changed.push(one))
      return changed
    }
    const countReads = () =>
      api.countRequests().find(({ verb, resource }) => verb === 'get' && resource === 'secrets')?.count ?? 0

    it('are Secrets, of type Opaque, with the same values [MODE-008]', async () => {
      const secrets = await openReady()
      await secrets.create({ ...key(), stringData: { token: 'x-1' } })
      type Stored = { type: string; data: Record<string, string> }
      const stored = await api.request<Stored>({ verb: 'get', collection: collections.secrets, ...key() })
      expect(stored.type).toBe('Opaque')
      expect(Buffer.from(stored.data.token ?? '', 'base64').toString()).toBe('x-1')
    })

    it('are read from the cluster once, until they change', async () => {
      const secrets = await openReady()
      await secrets.create({ ...key(), stringData: { token: 'x-1' } })
      await expect
        .poll(async () => {
          const before = countReads()
          await secrets.read(key())
          return countReads() - before
        })
        .toBe(0)
      const changed = listChanges(secrets)
      const data = { token: Buffer.from('x-2').toString('base64') }
      const target = { collection: collections.secrets, ...key() }
      await api.request({ verb: 'patch', patch: 'merge', ...target, body: { data } })
      await expect.poll(() => changed).toEqual([key()])
      expect(await secrets.read(key())).toEqual({ token: 'x-2' })
    })

    it('are read from the cluster each time while no watch reports changes', async () => {
      const { api: own, proxy } = await openProxiedApi()
      const secrets = await openReady(own)
      await secrets.create({ ...key(), stringData: { token: 'x-1' } })
      await secrets.read(key())
      await proxy.stop()
      await expect
        .poll(async () => isSvcError(await secrets.read(key()).catch((error: unknown) => error), 'Unavailable'), {
          timeout: 20_000,
        })
        .toBe(true)
      const changed = listChanges(secrets)
      await api.request({ verb: 'delete', collection: collections.secrets, ...key() })
      await proxy.start()
      // The longer the cluster was away, the more seldom it is asked.
      await expect.poll(() => changed, { timeout: 90_000 }).toEqual([key()])
      expect(await secrets.read(key())).toBeUndefined()
      await secrets.close()
      await own.close()
      await proxy.stop()
    })

    it('show no values in descriptions, though kubectl apply keeps them in an annotation', async () => {
      const secrets = await openReady()
      const annotations = {
        'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"token":"x-secret-1"}}',
        note: 'y',
      }
      const made = await secrets.create({ ...key(), stringData: { token: 'x-secret-1' }, annotations })
      expect(made.annotations).toEqual({ note: 'y' })
      const found = await secrets.list(key().namespace)
      expect(found).toEqual([made])
      expect(JSON.stringify([found, await secrets.describe(key())])).not.toContain('x-secret-1')
    })

    it('are refused for a namespace that does not exist, with a message that says so', async () => {
      const secrets = await openReady()
      const draft = { namespace: `${prefix}-missing`, name: 'vendor', stringData: { token: 'x-secret-2' } }
      const error = await secrets.create(draft).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ reason: 'NotFound', message: expect.stringContaining(`${prefix}-missing`) })
      expect(JSON.stringify(error)).not.toContain('x-secret-2')
    })
  })
})
