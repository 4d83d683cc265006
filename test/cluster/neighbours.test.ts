// The service among what others have set up on a cluster, and what its operators do to it: limits and quotas, a second release, an
// upgrade that is taken back, a database that moves, replicas that come and go, namespaces that go. No task fails by that. It takes four
// minutes in which nothing else may run on the cluster: SVC_TEST_WHOLE_CLUSTER=1 runs it.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chartFolder, findHelm } from '../../scripts/chart.ts'
import { isTerminalPhase, type Task } from '../../src/contract/kinds/tasks/task.ts'
import { buildCrd } from '../../src/contract/schema/crd.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, findObstacle, type Installation, install, release, undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const isWhole = process.env.SVC_TEST_WHOLE_CLUSTER !== undefined
const obstacle = isWhole ? findObstacle(image) : 'SVC_TEST_WHOLE_CLUSTER is not set'
const apiVersion = 'core.svc.ai/v1alpha1'
const patienceMs = 180_000
const urlOf = ({ url }: ClusterDatabase, name: string) => url.replace(/[^/]*$/, name)

function makeTask(name: string, seconds = 0, more: object = {}): object {
  const script = `setTimeout(() => console.log('done by ${name}'), ${seconds * 1000})`
  const spec = { type: 'container', image, command: ['node', '-e', script], ...more }
  return { apiVersion, kind: 'Task', metadata: { name }, spec }
}

describeOnCluster(`a neighbour on a cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation

  const read = (name: string, namespace = service.tasks) => readObject<Task>(['get', 'task', name], namespace)
  const waitForPhase = (name: string, phase: string, namespace = service.tasks) =>
    waitFor(async () => (await read(name, namespace)).status?.phase === phase, `${name} being ${phase}`, patienceMs)
  async function expectDone(...names: string[]): Promise<void> {
    for (const name of names) {
      await waitFor(async () => isTerminalPhase((await read(name)).status?.phase), `${name} having ended`, patienceMs)
      const { status } = await read(name)
      expect(status, JSON.stringify(status)).toMatchObject({ phase: 'Succeeded', attempts: 1 })
    }
  }
  const helm = (...args: string[]) => promisify(execFile)(findHelm() ?? '', [...args, '--namespace', service.namespace])
  const upgrade = (...values: string[]) =>
    helm('upgrade', release, chartFolder, '--reset-then-reuse-values', ...values.flatMap((value) => ['--set', value]))
  const rollOut = () =>
    kubectl(['rollout', 'status', `deployment/${release}`, '--timeout=150s'], { namespace: service.namespace })

  beforeAll(async () => {
    database = await startClusterDatabase('neighbours')
    service = await install({ image, databaseUrl: database.url })
  }, 300_000)
  afterAll(() => undoAll(service?.remove, database?.remove), patienceMs)

  it('runs tasks where limits, a quota and the strictest standard for pods rule', async () => {
    const { tasks: namespace } = service
    const limits = { default: { cpu: '300m', memory: '128Mi' }, defaultRequest: { cpu: '20m', memory: '64Mi' } }
    const bounds = { min: { cpu: '5m', memory: '16Mi' }, max: { cpu: '2', memory: '4Gi' } }
    const hard = {
      pods: '2',
      'requests.cpu': '2',
      'requests.memory': '4Gi',
      'limits.cpu': '8',
      'limits.memory': '16Gi',
    }
    const rules = [
      { kind: 'LimitRange', spec: { limits: [{ type: 'Container', ...limits, ...bounds }] } },
      { kind: 'ResourceQuota', spec: { hard } },
    ].map((rule) => JSON.stringify({ apiVersion: 'v1', metadata: { name: 'rules' }, ...rule }))
    await applyManifest(rules.join('\n'), { namespace })
    await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
    const names = Array.from({ length: 5 }, (_none, at) => `ruled-${at}`)
    const leaving = { artifactsDir: '/out' }
    await applyTasks(
      service,
      names.map((name, at) => makeTask(name, 1, at === 0 ? leaving : {})),
    )
    await expectDone(...names)
    await kubectl(['delete', 'limitrange,resourcequota', 'rules'], { namespace })
    const large = makeTask('large', 0, { resources: { requests: { memory: '8Gi' }, limits: { memory: '8Gi' } } })
    await applyManifest(rules[0] ?? '', { namespace })
    await applyTasks(service, [large])
    const told = { queuedReason: 'NoPod', message: expect.stringContaining('the events of Job large-job-') }
    await waitFor(async () => (await read('large')).status?.queuedReason === 'NoPod', 'large waiting', patienceMs)
    expect((await read('large')).status).toMatchObject({ phase: 'Pending', ...told })
    await kubectl(['delete', 'task', 'large', '--wait=false'], { namespace })
    await kubectl(['delete', 'limitrange', 'rules'], { namespace })
  }, 400_000)

  it('leaves the tasks of another release alone, and keeps its own when that is removed', async () => {
    const second = await install({ image, databaseUrl: urlOf(database, 'postgres'), replicas: 1 })
    try {
      await applyTasks(service, [makeTask('of-first', 2)])
      await applyTasks(second, [makeTask('of-second', 2)])
      await waitForPhase('of-second', 'Succeeded', second.tasks)
      await expectDone('of-first')
      const foreign = await service.call('GET', `/api/v1/tasks?namespace=${second.tasks}`)
      expect(foreign.status).toBe(403)
    } finally {
      await second.remove()
    }
    await applyTasks(service, [makeTask('of-first-later')])
    await expectDone('of-first-later')
  }, 400_000)

  it('takes an upgrade back while a task runs', async () => {
    await applyTasks(service, [makeTask('rolled', 25)])
    await waitForPhase('rolled', 'Running')
    await upgrade('logLevel=warn', 'settings.maxIterations=7')
    await rollOut()
    await helm('rollback', release, '1')
    await rollOut()
    const settings = await kubectl(['get', 'configmap', release, '-o', 'yaml'], { namespace: service.namespace })
    expect(settings).not.toContain('maxIterations')
    await expectDone('rolled')
  }, 400_000)

  it('serves with definitions of the version before, which know less, as while an upgrade is on its way', async () => {
    const definition = buildCrd('Task')
    const [older] = JSON.parse(JSON.stringify(definition)).spec.versions
    const { spec, status } = older.schema.openAPIV3Schema.properties
    delete spec.properties.execution.properties.queue
    delete status.properties.childTasks
    const install = (versions: unknown) =>
      kubectl(['apply', '--server-side', '--force-conflicts', '--field-manager=svc-tests', '-f', '-'], {
        input: JSON.stringify({ ...definition, spec: { ...(definition.spec as object), versions } }),
      })
    await install([older])
    try {
      await kubectl(['rollout', 'restart', `deployment/${release}`], { namespace: service.namespace })
      await rollOut()
      await applyTasks(service, [makeTask('on-older')])
      await expectDone('on-older')
      await expect(applyTasks(service, [makeTask('too-new', 0, { execution: { queue: 'q' } })])).rejects.toThrow(
        'queue',
      )
    } finally {
      await install((definition.spec as { versions: unknown }).versions)
    }
    await waitFor(
      () => applyTasks(service, [makeTask('new-again', 0, { execution: { queue: 'q' } })]).then(Boolean, () => false),
      'the definition of today being served',
    )
    await expectDone('new-again')
  }, 400_000)

  it('goes on with its tasks and records where its database has moved to', async () => {
    await applyTasks(service, [makeTask('moves', 30)])
    await waitForPhase('moves', 'Running')
    database.server.execute('postgres', 'alter database neighbours allow_connections false')
    database.server.execute(
      'postgres',
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'neighbours'",
    )
    database.server.execute('postgres', 'alter database neighbours rename to moved')
    database.server.execute('postgres', 'alter database moved allow_connections true')
    const stringData = { url: urlOf(database, 'moved') }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'svc-database' }, stringData }
    await applyManifest(JSON.stringify(secret), { namespace: service.namespace })
    await kubectl(['rollout', 'restart', `deployment/${release}`], { namespace: service.namespace })
    await rollOut()
    await expectDone('moves')
    const { body } = await service.call<{ result: string }>(
      'GET',
      `/api/v1/tasks/of-first/result?namespace=${service.tasks}`,
    )
    expect(body.result).toContain('done by of-first')
  }, 400_000)

  it('answers every call while its replicas become five and two again by the autoscaler', async () => {
    const { namespace } = service
    const address = await kubectl(['get', 'service', release, '-o', 'jsonpath={.spec.clusterIP}'], { namespace })
    const statuses = new Map<number | string, number>()
    let isOver = false
    const host = `${release}.${namespace}.svc:8080`
    const headers = { host, authorization: `Bearer ${service.token}`, connection: 'close' }
    const callOnAndOn = async () => {
      while (!isOver) {
        const url = `http://${address}:8080/api/v1/tasks?namespace=${service.tasks}`
        const status = await request(url, { headers }).then(
          async ({ statusCode, body }) => body.dump().then(() => statusCode),
          (error: Error) => error.message,
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const callers = [callOnAndOn(), callOnAndOn()]
    // Without metrics the autoscaler goes by its bounds alone.
    const names: string[] = []
    for (const replicas of [2, 5, 2]) {
      const group = Array.from({ length: 3 }, (_none, at) => `scaled-${names.length + at}`)
      names.push(...group)
      await applyTasks(
        service,
        group.map((name) => makeTask(name, 20)),
      )
      for (const name of group) await waitForPhase(name, 'Running')
      const bounds = [`autoscaling.minReplicas=${replicas}`, `autoscaling.maxReplicas=${replicas}`]
      await upgrade('autoscaling.enabled=true', ...bounds)
      await waitFor(async () => (await service.pods()).length === replicas, `${replicas} replicas`, patienceMs)
      await rollOut()
    }
    const scaler = await readObject<{ status: object }>(['get', 'hpa', release], namespace)
    expect(scaler.status).toMatchObject({ desiredReplicas: 2, lastScaleTime: expect.any(String) })
    await expectDone(...names)
    isOver = true
    await Promise.all(callers)
    expect([...statuses.keys()]).toEqual([200])
  }, 400_000)

  it('lets a namespace go, whatever its tasks are doing', async () => {
    await upgrade('watchNamespaces=null')
    await rollOut()
    const steps: Record<string, object> = {
      waits: makeTask('x', 0, {
        type: 'ai',
        image: undefined,
        command: undefined,
        prompt: 'p',
        agentRef: { name: 'none' },
      }),
      pulls: makeTask('x', 0, { image: 'registry.invalid/nothing:none' }),
      runs: makeTask('x', 600),
      held: makeTask('x', 0, { suspend: true }),
      scheduled: makeTask('x', 0, { schedule: '0 0 1 1 *' }),
      ended: makeTask('x'),
      starts: makeTask('x', 600),
    }
    const ending = randomBytes(3).toString('hex')
    const nameOf = (step: string) => `nb-${step}-${ending}`
    for (const [step, task] of Object.entries(steps)) {
      await kubectl(['create', 'namespace', nameOf(step)])
      await applyManifest(JSON.stringify(task), { namespace: nameOf(step) })
      if (step === 'runs') await waitForPhase('x', 'Running', nameOf(step))
      if (step === 'ended') await waitForPhase('x', 'Succeeded', nameOf(step))
    }
    const names = Object.keys(steps).map(nameOf)
    await kubectl(['delete', 'namespace', ...names, '--timeout=170s'])
    const ready = (await service.pods()).filter(({ isReady }) => isReady)
    expect(ready).toHaveLength(2)
    await applyTasks(service, [makeTask('afterwards')])
    await expectDone('afterwards')
  }, 500_000)
})
