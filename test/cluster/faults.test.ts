// What breaks around the service, on a real cluster: after each fault every task has ended once, in the right phase, and
// nothing of it is left. Outages take 15 s here, longer than a lease, a retry and a remembered right; SVC_FAULT_SECONDS
// sets another length, such as 60.
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'
import { findClusterProcess } from '../fixtures/cluster-cuts.ts'
import { type HostService, startHostService } from '../fixtures/host-service.ts'
import { undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject } from '../fixtures/kubectl.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../fixtures/postgres.ts'
import { pause, waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = image === '' ? 'SVC_TEST_IMAGE names no image that the cluster has' : postgresMissing
const outageMs = Number(process.env.SVC_FAULT_SECONDS ?? 15) * 1000
const apiVersion = 'core.svc.ai/v1alpha1'
const ended = ['Succeeded', 'Failed', 'Cancelled']

type Listed = { items: { metadata: { name: string; labels?: Record<string, string> } }[] }
type TimelineItem = { type: string; phase?: string; attempt: number }

describeOnCluster(`the service among faults${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let api: KubernetesApi
  let database: PostgresServer
  let namespace: string
  let tasks: string
  let token: string
  let service: HostService
  let others: HostService[] = []

  const start = () => startHostService({ namespace, tasks, databaseUrl: database.urlOf('faults'), image })

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    namespace = await makeNamespace(api, 'faults-op')
    tasks = await makeNamespace(api, 'faults')
    await kubectl(['create', 'serviceaccount', 'builder'], { namespace: tasks })
    await kubectl(['create', 'role', 'builder', '--verb=*', '--resource=tasks.core.svc.ai'], { namespace: tasks })
    await kubectl(['create', 'rolebinding', 'builder', '--role=builder', `--serviceaccount=${tasks}:builder`], {
      namespace: tasks,
    })
    token = (await kubectl(['create', 'token', 'builder'], { namespace: tasks })).trim()
    await kubectl(['create', 'secret', 'generic', 'word', '--from-literal=value=quiet-please'], { namespace: tasks })
    database = await startPostgres()
    database.execute('postgres', 'create database faults')
    service = await start()
  }, 180_000)

  const drop = (name: string) => () => dropNamespace(api, name)
  afterAll(
    () =>
      undoAll(
        () => service?.remove(),
        database?.remove,
        drop(namespace),
        drop(tasks),
        () => api.close(),
      ),
    180_000,
  )

  afterEach(async () => {
    for (const other of others) await other.remove()
    others = []
  })

  /** A command that takes so many seconds, and holds a Secret of its own while it runs. */
  function makeTask(name: string, seconds: number): object {
    const script = `setTimeout(() => console.log('done by ${name}'), ${seconds * 1000})`
    const env = [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'word', key: 'value' } } }]
    const spec = { type: 'container', image, command: ['node', '-e', script], env }
    return { apiVersion, kind: 'Task', metadata: { name }, spec }
  }

  function makeMany(prefix: string, count: number, seconds = 0): object[] {
    return Array.from({ length: count }, (_, index) => makeTask(`${prefix}-${index}`, seconds))
  }

  const create = (manifests: object[]) =>
    applyManifest(manifests.map((manifest) => JSON.stringify(manifest)).join('\n'), { namespace: tasks })
  const readTask = (name: string) => readObject<Task>(['get', 'task', name], tasks)
  const readTasks = async (prefix: string) =>
    (await readObject<{ items: Task[] }>(['get', 'tasks'], tasks)).items.filter(({ metadata }) =>
      metadata.name.startsWith(`${prefix}-`),
    )

  type Answer<T> = { status: number; body: T; retryAfter: number }

  async function call<T = unknown>(path: string): Promise<Answer<T>> {
    const target = new URL(`${path}?namespace=${tasks}`, service.url)
    const { statusCode, headers, body } = await request(target, { headers: { authorization: `Bearer ${token}` } })
    const retryAfter = Number(headers['retry-after'] ?? 0)
    return { status: statusCode, body: JSON.parse((await body.text()) || 'null') as T, retryAfter }
  }

  async function waitForPhase(name: string, phase: string): Promise<Task> {
    return waitFor(async () => {
      const task = await readTask(name)
      return task.status?.phase === phase && task
    }, `${name} being ${phase}`)
  }

  async function waitForEnds(prefix: string, timeoutMs = 120_000): Promise<Task[]> {
    let last: Task[] = []
    await waitFor(
      async () => {
        last = await readTasks(prefix)
        return last.length > 0 && last.every(({ status }) => ended.includes(status?.phase ?? ''))
      },
      `the end of ${prefix}`,
      timeoutMs,
    ).catch((error: unknown) => {
      const left = last.filter(({ status }) => !ended.includes(status?.phase ?? ''))
      throw new Error(`${error}; ${JSON.stringify(left.map(({ metadata, status }) => [metadata.name, status]))}`)
    })
    return last
  }

  /** Jobs, pods and Secrets of attempts. */
  async function listLeftovers(): Promise<string[]> {
    const { items } = await readObject<Listed>(['get', 'jobs,pods,secrets'], tasks)
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'word')
  }

  /** Each succeeded, with so many attempts, each announced once, its output kept; and nothing is left of it. */
  async function expectDone(prefix: string, attempts = 1): Promise<void> {
    const all = await waitForEnds(prefix)
    await expectNothingLeft()
    for (const { metadata, status } of all) {
      expect([metadata.name, status?.phase, status?.attempts, status?.message]).toEqual([
        ...[metadata.name, 'Succeeded', attempts],
        expect.any(String),
      ])
      const { body } = await call<{ items: TimelineItem[] }>(`/api/v1/tasks/${metadata.name}/events`)
      const phases = body.items
        .toReversed()
        .flatMap(({ phase, attempt }) => (phase === 'Pending' ? [] : [`${phase} ${attempt}`]))
      const starts = Array.from({ length: attempts }, (_, index) => `Running ${index + 1}`)
      expect([metadata.name, ...phases]).toEqual([metadata.name, ...starts, `Succeeded ${attempts}`])
      const logs = await call<{ logs: string }>(`/api/v1/tasks/${metadata.name}/logs`)
      expect(logs.body.logs).toContain(`done by ${metadata.name}`)
    }
  }

  async function expectNothingLeft(): Promise<void> {
    await waitFor(async () => (await listLeftovers()).length === 0, 'nothing being left', 100_000).catch(
      async (error: unknown) => {
        throw new Error(`${error}: ${await listLeftovers()}`)
      },
    )
  }

  const isReady = async () => (await request(new URL('/readyz', service.url))).statusCode === 200

  it(
    'continues after the API server was away: reads from memory and readiness stay, and no task is lost or run twice [HTTP-014]',
    async () => {
      await create([makeTask('gone-short', 3), makeTask('gone-long', outageMs / 1000 + 5), makeTask('gone-end', 1)])
      for (const name of ['gone-short', 'gone-long']) await waitForPhase(name, 'Running')
      expect((await call('/api/v1/tasks')).status).toBe(200)
      await service.proxy.stop()
      const back = pause(outageMs)
      try {
        expect((await call('/api/v1/tasks')).status).toBe(200)
        await create(makeMany('gone', 3))
        await back
        expect(await isReady()).toBe(true)
        // Rights are remembered for 10 s; after that they cannot be asked for.
        const late = await call('/api/v1/tasks')
        expect(late.status).toBe(503)
        expect(late.retryAfter).toBeGreaterThan(0)
      } finally {
        await service.proxy.start()
      }
      await expectDone('gone')
      await waitFor(async () => (await call('/api/v1/tasks')).status === 200, 'being served again')
    },
    outageMs + 200_000,
  )

  it('continues after etcd has compacted changes that it had not seen', async () => {
    const etcd = (path: string, body: object) =>
      request(`http://127.0.0.1:23790/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) })
    await create([makeTask('compact-running', 3)])
    await waitForPhase('compact-running', 'Running')
    const all = Buffer.from('/').toString('base64')
    const { header } = (await (await etcd('range', { key: all })).body.json()) as { header: { revision: string } }
    await service.proxy.stop()
    try {
      await create(makeMany('compact', 3))
      const now = (await (await etcd('range', { key: all })).body.json()) as { header: typeof header }
      expect((await etcd('compaction', { revision: now.header.revision, physical: true })).statusCode).toBe(200)
      // What the service saw last is no longer there.
      const past = await etcd('range', { key: all, revision: header.revision })
      expect(await past.body.text()).toContain('compacted')
    } finally {
      await service.proxy.start()
    }
    await expectDone('compact')
  })

  it(
    'answers 503 for what PostgreSQL holds while that is away, and loses nothing [HTTP-014]',
    async () => {
      await create([makeTask('base-before', 0)])
      await waitForPhase('base-before', 'Succeeded')
      await create([makeTask('base-short', 3), makeTask('base-long', outageMs / 1000 + 5)])
      for (const name of ['base-short', 'base-long']) await waitForPhase(name, 'Running')
      await database.stop('immediate')
      try {
        const back = pause(outageMs)
        await create(makeMany('base', 3))
        for (const what of ['logs', 'events', 'result']) {
          const { status, retryAfter } = await call(`/api/v1/tasks/base-before/${what}`)
          expect([what, status, retryAfter > 0]).toEqual([what, 503, true])
        }
        // What the cluster holds is read as ever.
        expect((await call('/api/v1/tasks/base-before')).status).toBe(200)
        expect(await isReady()).toBe(false)
        await back
      } finally {
        await database.start()
      }
      await expectDone('base')
      await waitFor(isReady, 'readiness')
    },
    outageMs + 200_000,
  )

  it('has one leader: a paused one that wakes up overwrites nothing of its successor [MODE-009, TASK-043]', async () => {
    const other = await start()
    others.push(other)
    const holder = async () =>
      (await readObject<{ spec: { holderIdentity: string } }>(['get', 'lease', 'svc-controllers'], namespace)).spec
        .holderIdentity
    const first = await holder()
    const creation = create(makeMany('two', 40))
    await waitFor(
      async () => (await readTasks('two')).some(({ status }) => status?.phase === 'Running'),
      'the first running',
    )
    service.process.kill('SIGSTOP')
    try {
      await creation
      await waitFor(async () => ![first, ''].includes(await holder()), 'another leading', 30_000)
      const second = await holder()
      await waitFor(
        async () => (await readTasks('two')).some(({ status }) => status?.phase === 'Succeeded'),
        'work going on',
      )
      service.process.kill('SIGCONT')
      await waitForEnds('two', 200_000)
      expect(await holder()).toBe(second)
    } finally {
      service.process.kill('SIGCONT')
    }
    await expectNothingLeft()
    for (const { metadata, status } of await readTasks('two')) {
      // What the first leader had announced and not yet started when it was stopped was interrupted.
      const { phase, attempts = 0, interruptions = 0 } = status ?? {}
      expect([metadata.name, phase, attempts - interruptions]).toEqual([metadata.name, 'Succeeded', 1])
      const { body } = await call<{ items: TimelineItem[] }>(`/api/v1/tasks/${metadata.name}/events`)
      const ends = body.items.filter((item) => ended.includes(item.phase ?? ''))
      expect([metadata.name, ends.length, body.items[0]?.phase]).toEqual([metadata.name, 1, 'Succeeded'])
    }
  }, 300_000)

  it('starts another attempt when a pod or a Job is deleted, without counting a retry [TASK-043]', async () => {
    await create([makeTask('lost-pod', 20), makeTask('lost-job', 20)])
    const findPod = (name: string) =>
      waitFor(async () => {
        const { items } = await readObject<Listed>(['get', 'pods', '--field-selector=status.phase=Running'], tasks)
        return items.find(({ metadata }) => metadata.name.startsWith(name))?.metadata
      }, `the pod of ${name}`)
    const [pod, other] = await Promise.all([findPod('lost-pod'), findPod('lost-job')])
    await kubectl(['delete', 'pod', pod.name, '--wait=false'], { namespace: tasks })
    const job = other.labels?.['batch.kubernetes.io/job-name'] ?? ''
    await kubectl(['delete', 'job', job, '--wait=false'], { namespace: tasks })
    await expectDone('lost', 2)
    for (const { status } of await readTasks('lost')) expect(status?.interruptions).toBe(1)
  }, 180_000)

  const kubelet = findClusterProcess('kubelet')
  describe.skipIf(kubelet === undefined)(
    `a kubelet${kubelet === undefined ? ' (skipped: it is not of this machine)' : ''}`,
    () => {
      it(
        'may stop and come back: running attempts go on, and new ones wait',
        async () => {
          await create([makeTask('node-running', outageMs / 1000 / 2), makeTask('node-long', outageMs / 1000 + 5)])
          for (const name of ['node-running', 'node-long']) await waitForPhase(name, 'Running')
          await waitFor(
            async () =>
              (await readObject<Listed>(['get', 'pods', '--field-selector=status.phase=Running'], tasks)).items
                .length === 2,
            'both pods running',
          )
          process.kill(kubelet ?? 0, 'SIGSTOP')
          try {
            await create(makeMany('node', 3))
            await pause(outageMs)
            for (const { status } of await readTasks('node')) expect(status?.phase).not.toBe('Failed')
          } finally {
            process.kill(kubelet ?? 0, 'SIGCONT')
          }
          await expectDone('node')
        },
        outageMs + 200_000,
      )
    },
  )
})
