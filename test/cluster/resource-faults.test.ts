// The resource store when the API server, the connection or another replica does what it may do at any time.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createReflector } from '../../src/cluster/reflector.ts'
import { collectionOf } from '../../src/cluster/resources/exchange.ts'
import { createKubernetesResources, type KubernetesResources } from '../../src/cluster/resources.ts'
import { kindNames, kinds } from '../../src/contract/kinds/index.ts'
import type { SvcError } from '../../src/errors.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import { changeStatus, draftTask, followTasks, namesOf, reasonOf } from '../contracts/resources-bench.ts'
import {
  clearNamespace,
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
  openProxiedApi,
} from '../fixtures/cluster.ts'
import type { TcpProxy } from '../fixtures/tcp-proxy.ts'
import { waitFor } from '../fixtures/time.ts'

const run = promisify(execFile)

/** The same API; when it is armed, the next watch of each kind asks for a version that the server has long forgotten. */
function createForgetfulApi(api: KubernetesApi) {
  const armed = new Set<string>()
  const stream: KubernetesApi['stream'] = async (request) => {
    const { plural } = request.collection
    if (!armed.has(plural)) return api.stream(request)
    const answer = await api.stream({ ...request, query: { ...request.query, resourceVersion: '1' } })
    armed.delete(plural)
    return answer
  }
  return {
    api: { ...api, stream },
    arm: () => {
      for (const kind of kindNames) armed.add(kinds[kind].plural)
    },
  }
}

describeOnCluster('resources on a cluster with faults', () => {
  let direct: KubernetesApi
  let other: KubernetesResources
  let namespace: string
  let proxied: { api: KubernetesApi; proxy: TcpProxy }
  let resources: KubernetesResources
  let faults: SvcError[]
  let forgetful: ReturnType<typeof createForgetfulApi>

  beforeAll(async () => {
    direct = await openClusterApi()
    await installDefinitions(direct)
    namespace = await makeNamespace(direct, 'res-faults')
    other = await createKubernetesResources({ api: direct, clock, ids })
  })
  afterAll(async () => {
    await other.close()
    await dropNamespace(direct, namespace)
    await direct.close()
  })
  beforeEach(async () => {
    faults = []
    proxied = await openProxiedApi()
    forgetful = createForgetfulApi(proxied.api)
    const onFault = (_kind: string, error: SvcError) => faults.push(error)
    resources = await createKubernetesResources({ api: forgetful.api, clock, ids, onFault })
  })
  afterEach(async () => {
    await resources.close()
    await proxied.api.close()
    await proxied.proxy.stop().catch(() => undefined)
    await clearNamespace(direct, namespace)
  })

  const create = (name: string, store = other) => store.create('Task', draftTask(name, { namespace }))
  const key = (name: string) => ({ namespace, name })
  const list = async (store = resources) => namesOf((await store.list('Task', { namespace })).items)

  it('misses and repeats nothing when its connections break repeatedly while others write', async () => {
    const watch = followTasks(resources, {
      namespace,
      resourceVersion: (await resources.list('Task', {})).resourceVersion,
    })
    const names = Array.from({ length: 40 }, (_, index) => `task-${index}`)
    const isKept = (index: number) => index % 2 === 1
    const writeOne = async (name: string, index: number) => {
      await create(name)
      await changeStatus(other, key(name), () => ({ phase: 'Running' }))
      if (!isKept(index)) await other.remove('Task', key(name))
    }
    for (const [index, name] of names.entries()) {
      if (index % 8 === 4) proxied.proxy.cut()
      await writeOne(name, index)
    }
    await create('end')
    await watch.until('ADDED', 'end')
    await watch.stop()
    for (const [index, name] of names.entries()) {
      const own = watch.log().filter((line) => line.endsWith(` ${name}`))
      expect(own).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, ...(isKept(index) ? [] : [`DELETED ${name}`])])
    }
    expect(await list()).toEqual(await list(other))
  })

  it('lists again when the server has compacted its last version, and tells its watchers to do so', async () => {
    await create('kept')
    await create('gone')
    await waitFor(async () => (await list()).length === 2)
    const page = await resources.list('Task', { namespace, limit: 1 })
    const watch = followTasks(resources, { namespace, resourceVersion: page.resourceVersion })
    forgetful.arm()
    await proxied.proxy.stop()
    await other.remove('Task', key('gone'))
    await create('later')
    await proxied.proxy.start()
    expect(await watch.failed).toMatchObject({ reason: 'Expired' })
    await waitFor(async () => (await list()).join() === 'kept,later')
    expect(faults.map((fault) => fault.reason)).toContain('Expired')
    const next = await resources.list('Task', { namespace, limit: 5, continue: page.continue ?? '' })
    expect(namesOf(next.items)).toEqual(['kept', 'later'])
    const again = followTasks(resources, { namespace })
    await again.until('ADDED', 'later')
    await create('last')
    await again.until('ADDED', 'last')
    await again.stop()
  })

  it('reads from memory and refuses writes while the API server is away, and goes on when it is back', async () => {
    const made = await create('there')
    await waitFor(async () => (await list()).length === 1)
    const { resourceVersion } = await resources.list('Task', { namespace })
    const watch = followTasks(resources, { namespace, resourceVersion })
    await proxied.proxy.stop()
    await waitFor(async () => resources.listStale().length === 7)
    expect(await resources.get('Task', key('there'))).toEqual(made)
    expect(await list()).toEqual(['there'])
    expect((await resources.countBy('Task', 'phase')).Pending).toBeGreaterThan(0)
    expect(await reasonOf(create('refused', resources))).toBe('Unavailable')
    expect(await reasonOf(resources.updateStatus('Task', { ...made, status: { phase: 'Running' } }))).toBe(
      'Unavailable',
    )
    expect(await reasonOf(resources.remove('Task', key('there')))).toBe('Unavailable')
    await create('meanwhile')
    await proxied.proxy.start()
    await watch.until('ADDED', 'meanwhile')
    await watch.stop()
    expect(watch.log()).toEqual(['ADDED meanwhile'])
    await waitFor(async () => resources.listStale().length === 0)
    await create('after', resources)
    expect(await list()).toEqual(['after', 'meanwhile', 'there'])
  })

  it('waits for an API server that is away at the start, until its signal aborts', async () => {
    await proxied.proxy.stop()
    const stop = new AbortController()
    const given = createKubernetesResources({ api: proxied.api, clock, ids }, stop.signal)
    stop.abort()
    await expect(given).rejects.toThrow()
    const late = createKubernetesResources({ api: proxied.api, clock, ids })
    await clock.sleep(300)
    await proxied.proxy.start()
    await (await late).close()
  })

  describe('beside another replica', () => {
    it('finds what the other replica has just created, and reads on from its pages and versions', async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        const made = await create(`task-${turn}`)
        expect((await resources.get('Task', key(`task-${turn}`)))?.metadata.uid).toBe(made.metadata.uid)
      }
      const first = await other.list('Task', { namespace, limit: 12 })
      const second = await resources.list('Task', { namespace, limit: 12, continue: first.continue ?? '' })
      expect(namesOf([...first.items, ...second.items])).toHaveLength(20)
      const last = await create('last')
      const watch = followTasks(resources, { namespace, resourceVersion: last.metadata.resourceVersion })
      await create('next')
      await watch.until('ADDED', 'next')
      await watch.stop()
      expect(watch.log()).toEqual(['ADDED next'])
    })

    it('has the latest for whoever asks for it, before its watch reports that', async () => {
      const made = await create('begun')
      const stream: KubernetesApi['stream'] = async ({ signal }) => {
        const silence = new Promise<never>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
        })
        return { [Symbol.asyncIterator]: () => ({ next: () => silence }) }
      }
      const behind = await createKubernetesResources({ api: { ...direct, stream }, clock, ids })
      await other.updateStatus('Task', { ...made, status: { phase: 'Running', attempts: 1 } })
      expect((await behind.get('Task', key('begun')))?.status?.attempts).toBeUndefined()
      expect((await behind.get('Task', key('begun'), { latest: true }))?.status?.attempts).toBe(1)
      expect((await behind.get('Task', key('begun')))?.status?.attempts).toBe(1)
      await behind.close()
    })

    it('has its own writes in its lists at once, before the watch reports them', async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        const made = await create('own', resources)
        expect(await list()).toEqual(['own'])
        await resources.updateStatus('Task', { ...made, status: { phase: 'Running' } })
        const running = await resources.list('Task', { namespace, fields: { phase: 'Running' } })
        expect(namesOf(running.items)).toEqual(['own'])
        await resources.remove('Task', key('own'))
        expect(await list()).toEqual([])
        expect(await resources.get('Task', key('own'))).toBeUndefined()
      }
    })
  })

  it('keeps what kubectl apply remembers through updates, and shows it to nobody', async () => {
    const manifest = (labels: string) =>
      `apiVersion: core.svc.ai/v1alpha1\nkind: Task\nmetadata: {name: applied, namespace: ${namespace}, labels: {${labels}}}\nspec: {type: ai, prompt: hi}\n`
    const apply = (text: string) => run('bash', ['-c', `kubectl apply -f - <<'E'\n${text}E`])
    await apply(manifest('a: "1", b: "2"'))
    await waitFor(async () => (await list()).length === 1)
    const task = await resources.get('Task', key('applied'))
    if (task === undefined) throw new Error('the applied task is not there')
    expect(task.metadata.annotations).toBeUndefined()
    await resources.update('Task', { ...task, spec: { ...task.spec, priority: 7 } })
    const { stderr } = await apply(manifest('a: "1"'))
    expect(stderr).toBe('')
    await waitFor(async () => (await resources.get('Task', key('applied')))?.metadata.labels?.b === undefined)
    expect((await resources.get('Task', key('applied')))?.spec.priority).toBe(7)
  })

  describe('refusals', () => {
    it('of unknown and invalid fields name them [HTTP-004]', async () => {
      const draft = draftTask('bad', { namespace })
      const unknown = { ...draft, spec: { ...draft.spec, colour: 'red' } }
      await expect(resources.create('Task', unknown)).rejects.toMatchObject({
        reason: 'InvalidRequest',
        message: expect.stringContaining('spec.colour'),
      })
      const wrong = { ...draft, spec: { ...draft.spec, priority: 4000 } }
      await expect(resources.create('Task', wrong)).rejects.toMatchObject({
        reason: 'InvalidRequest',
        details: [{ path: 'spec.priority', message: expect.stringContaining('1000') }],
      })
    })

    it('of a missing namespace say so', async () => {
      const lost = draftTask('lost', { namespace: `${namespace}-missing` })
      await expect(resources.create('Task', lost)).rejects.toMatchObject({
        reason: 'NotFound',
        message: expect.stringContaining('create it'),
      })
    })

    it('of objects over 1 MiB come before they are sent [HTTP-032]', async () => {
      const big = draftTask('big', { namespace, spec: { prompt: 'x'.repeat(1_048_576) } })
      expect(await reasonOf(resources.create('Task', big))).toBe('TooLarge')
      const fits = draftTask('fits', { namespace, spec: { prompt: 'x'.repeat(1_040_000) } })
      expect(await reasonOf(resources.create('Task', fits))).toBe('none')
    })

    it('of a kind that is not installed say what to install', async () => {
      const reflector = createReflector({
        api: direct,
        clock,
        ids,
        collection: { ...collectionOf('Task'), plural: 'gadgets' },
        convert: () => undefined,
        onReset: () => undefined,
        onEvent: () => undefined,
      })
      await expect(reflector.ready).rejects.toMatchObject({
        reason: 'NotConfigured',
        message: expect.stringContaining('deploy/crds'),
      })
      await reflector.close()
    })
  })

  it('counts the requests that it sends, by verb and resource', async () => {
    const before = new Map(proxied.api.countRequests().map((entry) => [`${entry.verb} ${entry.resource}`, entry.count]))
    const made = await create('counted', resources)
    await resources.get('Task', key('counted'))
    const running = await resources.updateStatus('Task', { ...made, status: { phase: 'Running' } })
    await list()
    await resources.update('Task', { ...running, metadata: { ...running.metadata, finalizers: ['svc.ai/one'] } })
    await resources.remove('Task', key('counted'))
    const sent = proxied.api.countRequests().map(({ verb, resource, count }) => {
      return [`${verb} ${resource}`, count - (before.get(`${verb} ${resource}`) ?? 0)]
    })
    expect(Object.fromEntries(sent.filter(([, count]) => count !== 0))).toEqual({
      'create tasks': 1,
      'update tasks/status': 1,
      'update tasks': 1,
      'delete tasks': 1,
    })
  })
})
