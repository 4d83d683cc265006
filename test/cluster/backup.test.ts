// A cluster that is backed up while tasks run, emptied, and restored: every record is there, and nothing starts again.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chartFolder, findHelm } from '../../scripts/chart.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { clearNamespace, describeOnCluster, openClusterApi } from '../fixtures/cluster.ts'
import { type ClusterDatabase, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, findObstacle, type Installation, install, release, undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'
import { launchSvc } from '../scenarios/service.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)
const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
const target = join(folder, 'backup')
/** They start and end while the backup is taken. */
const burst = Array.from({ length: 8 }, (_none, index) => `burst-${index}`)

type Task = {
  apiVersion: string
  kind: string
  metadata: { name: string; uid: string; annotations?: Record<string, string>; ownerReferences?: { uid: string }[] }
  spec: object
  status?: { phase?: string; attempts?: number; failureReason?: string; message?: string }
}

const script = (text: string) => ({ type: 'container', image, command: ['node', '-e', text] })
const makeTask = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'core.svc.ai/v1alpha1',
  kind: 'Task',
  metadata: { name, ...metadata },
  spec,
})

describeOnCluster(`backup and restore${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let api: KubernetesApi

  beforeAll(async () => {
    api = await openClusterApi()
    database = await startClusterDatabase('backup')
    // The account of the kubeconfig restores.
    const { status } = JSON.parse(await kubectl(['auth', 'whoami', '-o', 'json'])) as {
      status: { userInfo: { username: string } }
    }
    const values = [`admission.accounts={${status.userInfo.username}}`]
    service = await install({ image, databaseUrl: database.url, replicas: 1, values })
  }, 240_000)
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await undoAll(service?.remove, database?.remove, () => api?.close())
  }, 180_000)

  const readTask = (name: string) => readObject<Task>(['get', 'tasks.core.svc.ai', name], service.tasks)
  const listTasks = async () => (await readObject<{ items: Task[] }>(['get', 'tasks.core.svc.ai'], service.tasks)).items
  const inPhase = (name: string, phase: string) =>
    waitFor(async () => (await readTask(name)).status?.phase === phase, `${name} being ${phase}`, 60_000)
  const listJobs = async (...selector: string[]) =>
    (await readObject<{ items: unknown[] }>(['get', 'jobs', ...selector], service.tasks)).items.length
  const readResult = async (name: string) => (await service.call('GET', `/api/v1/tasks/${name}/result`)).body

  const readBackup = () =>
    readFileSync(join(target, 'objects.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Task)

  const svc = (...args: string[]) =>
    launchSvc(args, {
      PATH: process.env.PATH,
      HOME: folder,
      SVC_KUBECONFIG: process.env.KUBECONFIG,
      SVC_DATABASE_URL: database.url,
      SVC_WATCH_NAMESPACE: service.tasks,
      SVC_OPERATOR_NAMESPACE: service.namespace,
    })

  async function scale(replicas: number): Promise<void> {
    const place = ['--namespace', service.namespace]
    const values = ['--reset-then-reuse-values', '--set', `replicas=${replicas}`]
    await promisify(execFile)(findHelm() ?? '', ['upgrade', release, chartFolder, ...place, ...values])
    await waitFor(
      async () => {
        const pods = await service.pods()
        return pods.length === replicas && pods.every(({ isReady }) => isReady)
      },
      `${replicas} replicas being ready`,
      90_000,
    )
  }

  it('gives every record back and starts nothing again', async () => {
    await applyTasks(service, [
      makeTask('good', script('console.log(1 + 1)')),
      makeTask('bad', script('process.exit(3)')),
      makeTask('runs', script('setInterval(() => undefined, 1000)')),
      makeTask('held', { ...script('0'), suspend: true }),
      makeTask('nightly', { ...script('0'), schedule: '0 3 * * *' }),
    ])
    await Promise.all([
      inPhase('good', 'Succeeded'),
      inPhase('bad', 'Failed'),
      inPhase('runs', 'Running'),
      inPhase('held', 'Pending'),
      inPhase('nightly', 'Scheduled'),
    ])
    const owner = (await readTask('good')).metadata.uid
    const ownerReferences = [{ apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', name: 'good', uid: owner }]
    await applyTasks(service, [makeTask('child', { ...script('0'), suspend: true }, { ownerReferences })])
    await inPhase('child', 'Pending')
    const before = await listTasks()
    const [result, events] = [await readResult('good'), (await service.call('GET', '/api/v1/tasks/good/events')).body]

    await applyTasks(
      service,
      burst.map((name) => makeTask(name, script('console.log(2)'))),
    )
    await waitFor(
      async () => (await Promise.all(burst.map(readTask))).some(({ status }) => status?.phase === 'Succeeded'),
      'the first of the burst having ended',
      60_000,
    )
    const done = { code: 0, stdout: expect.stringContaining(`${6 + burst.length} objects`) }
    expect(await svc('backup', target, '--cluster')).toMatchObject(done)
    const early = await svc('restore', target, '--cluster')
    expect(early).toMatchObject({ stderr: expect.stringMatching(/leads in .*scale --replicas 0 deployment/) })

    await scale(0)
    await clearNamespace(api, service.tasks)
    await kubectl(['delete', 'jobs,pods', '--all', '--wait=true', '--grace-period=1'], { namespace: service.tasks })
    database.server.execute('postgres', 'drop database backup with (force)')
    database.server.execute('postgres', 'create database backup')

    expect(await svc('restore', target, '--cluster')).toMatchObject(done)
    const uids = new Map((await listTasks()).map(({ metadata }) => [metadata.name, metadata.uid]))
    await scale(1)
    await inPhase('runs', 'Failed')
    await applyTasks(service, [makeTask('later', script('console.log(3)'))])
    await inPhase('later', 'Succeeded')

    const isOver = ({ status }: Task) => ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    await waitFor(
      async () => (await Promise.all(burst.map(readTask))).every(isOver),
      'what had not started having run',
      60_000,
    )
    const after = new Map((await listTasks()).map((task) => [task.metadata.name, task]))
    const summary = (tasks: Iterable<Task>) =>
      [...tasks].map(({ metadata, status }) => [metadata.name, status?.phase, status?.attempts ?? 0])
    const others = before.filter(({ metadata }) => metadata.name !== 'runs')
    expect(summary(others.map(({ metadata }) => after.get(metadata.name) as Task))).toEqual(summary(others))
    expect(after.get('runs')?.status).toMatchObject({ attempts: 1, failureReason: 'Interrupted' })
    expect(after.get('child')?.metadata.ownerReferences).toMatchObject([{ uid: uids.get('good') }])
    expect(uids.get('good')).not.toBe(owner)
    for (const { metadata, status } of readBackup()) {
      const restored = after.get(metadata.name)
      // What had an attempt has no other; what had ended has its end, and its result, and no Job.
      if (status?.attempts)
        expect([metadata.name, restored?.status?.attempts]).toEqual([metadata.name, status.attempts])
      if (status?.phase !== 'Succeeded') continue
      expect(restored?.status?.phase).toBe('Succeeded')
      expect(await readResult(metadata.name)).toEqual({ result: '2\n' })
      expect(await listJobs('-l', `svc.ai/task=${metadata.name}`)).toBe(0)
    }
    expect(await readResult('good')).toEqual(result)
    expect((await service.call('GET', '/api/v1/tasks/good/events')).body).toEqual(
      JSON.parse(JSON.stringify(events).replaceAll(owner, uids.get('good') ?? '')),
    )
  }, 300_000)

  it('gives finished tasks that come back without a status their end again', async () => {
    const exported = await Promise.all(['good', 'bad'].map(readTask))
    const copies = exported.map(({ apiVersion, kind, metadata, spec }) => ({
      apiVersion,
      kind,
      metadata: { name: metadata.name, annotations: metadata.annotations },
      spec,
    }))
    await kubectl(['delete', 'tasks.core.svc.ai', 'good', 'bad'], { namespace: service.tasks })
    const jobs = await listJobs()
    await applyManifest(copies.map((copy) => JSON.stringify(copy)).join('\n'), { namespace: service.tasks })
    await Promise.all([inPhase('good', 'Succeeded'), inPhase('bad', 'Failed')])
    for (const name of ['good', 'bad'])
      expect((await readTask(name)).status).toMatchObject({
        message: expect.stringContaining('restored without its status'),
      })
    expect(await listJobs()).toBe(jobs)
  }, 120_000)
})
