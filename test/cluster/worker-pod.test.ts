// Workers in pods of their own: whose token it is, what a pod is given, and an ai task from its creation to its result.
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectFromKubeconfig } from '../../src/cluster/api/connection.ts'
import { collections } from '../../src/cluster/api/paths.ts'
import { openEmbedded } from '../../src/compose/embedded.ts'
import { type RunningService, startService } from '../../src/compose/service.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { WorkAssignment } from '../../src/contract/api/tasks/assignment.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { systemClock, systemIds } from '../../src/lib/system-clock.ts'
import { createLog } from '../../src/observability/log.ts'
import type { AttemptKey } from '../../src/ports/tasks/workloads.ts'
import { createKubernetesSandbox, type KubernetesSandbox } from '../../src/runtime/code-pods/sandbox.ts'
import { jobs, type Pod, pods, serviceAccounts } from '../../src/runtime/jobs/objects.ts'
import { createKubernetesWorkerTokens } from '../../src/runtime/jobs/worker-tokens.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { waitFor } from '../fixtures/time.ts'
import { type ClusterBench, openClusterBench, testImage } from './workloads-bench.ts'

const account = 'svc-ai-worker'

async function list(bench: ClusterBench, collection: typeof pods): Promise<Pod[]> {
  const { namespace } = bench
  return (await bench.api.request<{ items: Pod[] }>({ verb: 'list', collection, namespace })).items
}

describeOnCluster('the token of a worker pod', () => {
  let bench: ClusterBench
  let key: AttemptKey
  let pod: Pod
  beforeAll(async () => {
    const command = ['sh', '-c', 'sleep 300']
    bench = await openClusterBench({ worker: { image: testImage, command, serviceAccount: account } })
    key = { taskUid: 'uid-of-worker', attempt: 3 }
    const assignment = { loop: { prompt: 'the-prompt' }, api: { token: '' } } as unknown as WorkAssignment
    await bench.workloads.ensure({
      key,
      namespace: bench.namespace,
      taskName: 'work',
      limits: {},
      run: { kind: 'worker', assignment },
    })
    await waitFor(async () => (await bench.workloads.observe(key)).phase === 'Running', 'it runs')
    pod = (await list(bench, pods))[0] as Pod
  })
  afterAll(() => bench.close())

  const tokens = () =>
    createKubernetesWorkerTokens({
      api: bench.api,
      clock: systemClock,
      workloads: bench.workloads,
      instance: bench.namespace,
      serviceAccount: account,
    })
  /** A token as the kubelet gets it. */
  async function request(spec: object, name = account): Promise<string> {
    const { namespace } = bench
    const target = { collection: serviceAccounts, namespace, name, subresource: 'token' }
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    type Answer = { status: { token: string } }
    return (await bench.api.request<Answer>({ verb: 'create', ...target, body })).status.token
  }
  const boundTo = ({ metadata: { name, uid } }: Pod) => ({ apiVersion: 'v1', kind: 'Pod', name, uid })
  const refused = { reason: 'Unauthenticated' }

  it('identifies its attempt by its pod and the Job of that pod [AUTH-007, AUTH-010]', async () => {
    const token = await request({ audiences: ['svc-internal'], boundObjectRef: boundTo(pod) })
    const identity = { ...key, namespace: bench.namespace, taskName: 'work' }
    expect(await tokens().verify(token)).toEqual(identity)
  })

  it('is refused for another audience, without a pod, and for another account [AUTH-007, AUTH-010]', async () => {
    const forServer = await request({ boundObjectRef: boundTo(pod) })
    await expect(tokens().verify(forServer)).rejects.toMatchObject(refused)
    const unbound = await request({ audiences: ['svc-internal'] })
    await expect(tokens().verify(unbound)).rejects.toMatchObject(refused)
    const other = await request({ audiences: ['svc-internal'] }, 'default')
    await expect(tokens().verify(other)).rejects.toMatchObject(refused)
    await expect(tokens().verify('nonsense')).rejects.toMatchObject(refused)
  })

  it('is refused for a pod that only looks like a worker, without a Job of the service [AUTH-010]', async () => {
    const { namespace } = bench
    const metadata = { name: 'impostor', labels: pod.metadata.labels, annotations: pod.metadata.annotations }
    const container = { name: 'worker', image: testImage, imagePullPolicy: 'IfNotPresent', command: ['sleep', '300'] }
    const spec = { serviceAccountName: account, containers: [container], terminationGracePeriodSeconds: 0 }
    const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec }
    const impostor = await bench.api.request<Pod>({ verb: 'create', collection: pods, namespace, body })
    const token = await request({ audiences: ['svc-internal'], boundObjectRef: boundTo(impostor) })
    await expect(tokens().verify(token)).rejects.toMatchObject(refused)
    await bench.api.request({ verb: 'delete', collection: pods, namespace, name: 'impostor' })
  })

  it('is mounted on its own; the pod has none for the API server, and its spec has no word of the work', () => {
    const text = JSON.stringify(pod.spec)
    expect(text).toContain('"audience":"svc-internal"')
    expect(text).toContain('"automountServiceAccountToken":false')
    expect(text).not.toContain('kube-api-access')
    expect(text).not.toContain('the-prompt')
  })

  it('is refused once the attempt is removed, and no Secret stays', async () => {
    const token = await request({ audiences: ['svc-internal'], boundObjectRef: boundTo(pod) })
    const asked = tokens()
    await asked.verify(token)
    expect((await list(bench, collections.secrets)).length).toBe(1)
    await bench.workloads.remove(key)
    await expect(asked.verify(token)).rejects.toMatchObject(refused)
    expect(await list(bench, collections.secrets)).toEqual([])
  })
})

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

const image = readEnvironment().SVC_TEST_IMAGE
/** Of this machine, seen from pods of the test cluster. */
const hostAddress = '10.88.0.1'

describeOnCluster('an ai task in a worker pod', () => {
  describe.skipIf(image === undefined)(image === undefined ? '(skipped: SVC_TEST_IMAGE names no image)' : image, () => {
    let bench: ClusterBench
    let service: RunningService
    let sandbox: KubernetesSandbox
    const token = 'owner-token-of-the-worker-pods'
    beforeAll(async () => {
      const worker = { image: image ?? '', command: ['node', '/app/dist/worker.js'], serviceAccount: account }
      bench = await openClusterBench({ worker })
      const port = await findPort()
      const config = loadConfig({
        flags: {
          mode: 'embedded',
          host: '0.0.0.0',
          port,
          bootstrapToken: token,
          publicHost: [hostAddress],
          dataDir: join(bench.folder, 'data'),
          configDir: join(bench.folder, 'config'),
        },
        env: {},
      })
      const log = createLog({ level: 'error' })
      const mode = await openEmbedded(config, log)
      const workloads = bench.restart({ logs: mode.ports.records.logs })
      const workerTokens = createKubernetesWorkerTokens({
        api: bench.api,
        clock: systemClock,
        workloads,
        instance: bench.namespace,
        serviceAccount: account,
      })
      const workerApiUrl = `http://${hostAddress}:${port}`
      sandbox = createKubernetesSandbox({
        api: bench.api,
        clock: systemClock,
        ids: systemIds,
        log,
        image: testImage,
        languages: ['bash'],
        connection: await connectFromKubeconfig(),
        instance: bench.namespace,
        namespace: bench.namespace,
        size: 1,
      })
      const ports = { ...mode.ports, workloads, workerTokens, sandbox }
      service = await startService(config, { ...mode, ports, workerApiUrl, allowDemoProvider: true }, log)
    })
    afterAll(async () => {
      await service.stop()
      await sandbox.close()
      await bench.close()
    })

    async function call<T>(method: string, path: string, body?: object): Promise<T> {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const url = new URL(path, service.url.replace('0.0.0.0', '127.0.0.1'))
      const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
    }

    it('works with its tools, reports with its token, and leaves nothing behind [MODE-008, AUTH-010]', async () => {
      const { namespace } = bench
      const where = `?namespace=${namespace}`
      const demo = { type: 'demo', defaultModel: 'demo' }
      await call('POST', '/api/v1/providers', { name: 'demo', namespace, spec: demo })
      const prompt = 'write hello to notes.txt, then read notes.txt'
      const ai = { providerRef: { name: 'demo' } }
      await call('POST', '/api/v1/tasks', { name: 'hello', namespace, type: 'ai', prompt, ai })
      const task = await waitFor(async () => {
        const now = await call<Task>('GET', `/api/v1/tasks/hello${where}`)
        return ['Succeeded', 'Failed'].includes(now.status?.phase ?? '') && now
      }, 'the task has ended')
      expect(task.status).toMatchObject({ phase: 'Succeeded', attempts: 1 })
      const { result } = await call<{ result: string }>('GET', `/api/v1/tasks/hello/result${where}`)
      expect(result).toContain('hello')
      const { logs } = await call<{ logs: string }>('GET', `/api/v1/tasks/hello/logs${where}`)
      expect(logs).toContain('[done: ')
      for (const collection of [jobs, pods, collections.secrets]) {
        await waitFor(async () => (await list(bench, collection)).length === 0, `no ${collection.plural} are left`)
      }
    })

    it('runs its code in another pod, which has its files and not its secrets [BUILT-024]', async () => {
      const { namespace } = bench
      const code = [
        'mkdir -p artifacts; tr a-z A-Z < notes.txt > artifacts/loud.txt',
        'ls /run/svc >> artifacts/loud.txt; ls /app /var/run/secrets 2>> artifacts/loud.txt',
      ]
      const prompt = `write hello to notes.txt, then run bash: ${code.join('; ')}, then read artifacts/loud.txt`
      const ai = { providerRef: { name: 'demo' } }
      await call('POST', '/api/v1/tasks', { name: 'codes', namespace, type: 'ai', prompt, ai })
      const task = await waitFor(
        async () => {
          const now = await call<Task>('GET', `/api/v1/tasks/codes?namespace=${namespace}`)
          return ['Succeeded', 'Failed'].includes(now.status?.phase ?? '') && now
        },
        'the task has ended',
        90_000,
      )
      expect(task.status?.phase).toBe('Succeeded')
      const { logs } = await call<{ logs: string }>('GET', `/api/v1/tasks/codes/logs?namespace=${namespace}`)
      expect(logs).toContain('[artifact "loud.txt" uploaded')
      const path = `/api/v1/tasks/codes/artifacts/loud.txt?namespace=${namespace}`
      const loud = String(await call('GET', path))
      expect(loud).toContain('HELLO')
      // Its own folder of input, and neither an assignment nor a token nor the program of the worker.
      expect(loud).toContain('input')
      expect(loud).not.toMatch(/assignment|token|worker\.js/)
      expect(loud).toMatch(/\/app.*No such file/)
    })

    it('reports the cause of a failure as the worker put it', async () => {
      const { namespace } = bench
      const spec = { type: 'llmo', baseURL: 'http://127.0.0.1:9', defaultModel: 'none' }
      await call('POST', '/api/v1/providers', { name: 'away', namespace, spec })
      const provider = { providerRef: { name: 'away' } }
      await call('POST', '/api/v1/tasks', { name: 'fails', namespace, type: 'ai', prompt: 'say hi', ai: provider })
      const task = await waitFor(async () => {
        const now = await call<Task>('GET', `/api/v1/tasks/fails?namespace=${namespace}`)
        return now.status?.phase === 'Failed' && now
      }, 'the task has ended')
      expect(task.status?.conditions?.find(({ type }) => type === 'Complete')?.reason).toMatch(/^[A-Z][a-z]+[A-Z]/)
    })
  })
})
