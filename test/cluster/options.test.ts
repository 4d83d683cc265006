// The chart with its options all at once, on two of three namespaces: what each of them is for, and what the third one sees of it.
import { randomBytes } from 'node:crypto'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hasOpenssl, makeCertificate } from '../fixtures/certificates.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { anyCertificate, findObstacle, type Installation, install, release, undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject, runKubectl } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image) ?? (hasOpenssl ? undefined : 'openssl is not installed')

const apiVersion = 'core.svc.ai/v1alpha1'
const ending = randomBytes(3).toString('hex')
const [second, outside] = [`dep-second-${ending}`, `dep-outside-${ending}`]
const publicHost = 'svc.example.com'
const mebibyte = 1024 ** 2

type Task = { metadata: { finalizers?: string[] }; status?: { phase?: string; message?: string } }
type Container = { env: { name: string }[]; resources: { requests: object; limits: object } }
type PodSpec = { containers: Container[]; topologySpreadConstraints?: object[] }

/** A vendor behind a certificate that no public authority signed: it says one word, streamed. */
const vendorProgram = `
const events = [{ choices: [{ index: 0, delta: { role: 'assistant', content: 'tulip' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }]
const chunk = (event) => 'data: ' + JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...event }) + '\\n\\n'
const options = { key: process.env.KEY, cert: process.env.CERT }
require('node:https').createServer(options, (asked, answer) => {
  asked.resume().on('end', () => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.end(events.map(chunk).join('') + 'data: [DONE]\\n\\n')
  })
}).listen(8443)`

function listObjects(namespace: string, certificate: { key: Buffer; cert: Buffer }): object[] {
  const labels = { app: 'private-vendor' }
  const env = ['KEY', 'CERT'].map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: 'private-vendor', key: name } },
  }))
  const command = ['node', '-e', vendorProgram]
  const readinessProbe = { tcpSocket: { port: 8443 }, periodSeconds: 1 }
  const container = { name: 'vendor', image, imagePullPolicy: 'IfNotPresent', command, env, readinessProbe }
  const provider = {
    type: 'llmo',
    baseURL: `https://private-vendor.${namespace}.svc:8443/v1`,
    defaultModel: 'm',
    secretRef: { name: 'key', key: 'api-key' },
  }
  const secret = (name: string, stringData: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData,
  })
  return [
    secret('private-vendor', { KEY: `${certificate.key}`, CERT: `${certificate.cert}` }),
    secret('key', { 'api-key': 'made-up-key-000000' }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'private-vendor', labels },
      spec: { containers: [container], enableServiceLinks: false },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'private-vendor' },
      spec: { selector: labels, ports: [{ port: 8443 }] },
    },
    { apiVersion, kind: 'Provider', metadata: { name: 'private' }, spec: provider },
  ]
}

function makeTask(name: string, spec: object): object {
  return { apiVersion, kind: 'Task', metadata: { name }, spec }
}

function apply(namespace: string, objects: object[]): Promise<string> {
  return applyManifest(objects.map((object) => JSON.stringify(object)).join('\n'), { namespace })
}

async function readTask(namespace: string, name: string): Promise<Task> {
  return readObject<Task>(['get', 'tasks.core.svc.ai', name], namespace)
}

async function waitForPhase(namespace: string, name: string, phase: string): Promise<void> {
  let last: Task | undefined
  const check = async () => {
    last = await readTask(namespace, name)
    return last.status?.phase === phase
  }
  await waitFor(check, `${name} being ${phase}`, 120_000).catch((error: unknown) => {
    throw new Error(`${error}; it is ${JSON.stringify(last?.status)}`)
  })
}

const command = (script: string) => ({ type: 'container', image, command: ['node', '-e', script] })

/** What of it exists before the pods do: they mount it. */
async function prepare(namespace: string, certificate: Buffer): Promise<void> {
  const own = makeCertificate('the service', [`${release}.${namespace}.svc`])
  const map = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
  const stringData = { 'tls.crt': `${own.cert}`, 'tls.key': `${own.key}` }
  await apply(namespace, [
    map('company-ca', { 'root.pem': `${certificate}${own.cert}` }),
    map('extra', { note: 'made up' }),
    { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name: 'svc-tls' }, stringData },
  ])
  own.remove()
}

const options = {
  extraEnv: [{ name: 'SVC_MAX_ITERATIONS', value: '7' }],
  extraVolumes: [{ name: 'extra', configMap: { name: 'extra' } }],
  extraVolumeMounts: [{ name: 'extra', mountPath: '/extra', readOnly: true }],
  privateCA: { configMap: 'company-ca', key: 'root.pem' },
  tls: { secretName: 'svc-tls' },
  ingress: { enabled: true, host: publicHost },
  autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 3 },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
  ],
  worker: { resources: { requests: { cpu: '30m', memory: '40Mi' }, limits: { cpu: '700m', memory: '600Mi' } } },
  enforceNamespaceIsolation: false,
}

describeOnCluster(`the options of the chart${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let caller: string

  beforeAll(async () => {
    for (const name of [second, outside]) await kubectl(['create', 'namespace', name])
    const certificate = makeCertificate('private vendor', [`private-vendor.${second}.svc`])
    database = await startClusterDatabase('svc')
    service = await install({
      image,
      databaseUrl: database.url,
      more: options,
      alsoServed: [second],
      prepare: (namespace) => prepare(namespace, certificate.cert),
    })
    certificate.remove()
    caller = `${service.tasks}:builder`
    const role = `--clusterrole=${service.namespace}-${release}-editor`
    for (const namespace of [second, outside])
      await kubectl(['create', 'rolebinding', 'builder', role, `--serviceaccount=${caller}`], { namespace })
    await apply(second, listObjects(second, certificate))
    await kubectl(['wait', '--for=condition=Ready', 'pod/private-vendor', '--timeout=60s'], { namespace: second })
  }, 300_000)

  const removeNamespaces = () => kubectl(['delete', 'namespace', second, outside, '--wait=false', '--ignore-not-found'])
  afterAll(() => undoAll(service?.remove, database?.remove, removeNamespaces), 180_000)

  it('give the pods environment, volumes and topology spread, and leave their number to autoscaling', async () => {
    const pods = await readObject<{ items: { spec: PodSpec }[] }>(
      ['get', 'pods', '-l', 'app.kubernetes.io/component=service'],
      service.namespace,
    )
    expect(pods.items).toHaveLength(2)
    for (const { spec } of pods.items)
      expect(spec.topologySpreadConstraints).toMatchObject(options.topologySpreadConstraints)
    const inside = (...args: string[]) =>
      kubectl(['exec', `deployment/${release}`, '--', ...args], { namespace: service.namespace })
    expect(await inside('cat', '/extra/note')).toBe('made up')
    expect(await inside('printenv', 'SVC_MAX_ITERATIONS')).toBe('7\n')
    const scaler = await readObject<{ spec: object }>(['get', 'hpa', release], service.namespace)
    expect(scaler.spec).toMatchObject({ minReplicas: 2, maxReplicas: 3 })
  })

  it('let the service answer to the host of its ingress and to no other', async () => {
    const ingress = await readObject<{ spec: object }>(['get', 'ingress', release], service.namespace)
    expect(ingress.spec).toMatchObject({ rules: [{ host: publicHost }] })
    const [pod] = await service.pods()
    const ask = async (host: string) => {
      const headers = { host, authorization: `Bearer ${service.token}` }
      const answer = await request(`https://${pod?.ip}:8080/api/v1/tasks`, { headers, dispatcher: anyCertificate })
      await answer.body.dump()
      return answer.statusCode
    }
    expect(await ask(publicHost)).toBe(200)
    expect(await ask('other.example.com')).toBe(403)
  })

  it('give pods of tasks their resources', async () => {
    await apply(service.tasks, [makeTask('sized', command('setTimeout(() => {}, 60_000)'))])
    await waitForPhase(service.tasks, 'sized', 'Running')
    const jobs = await readObject<{ items: { spec: { template: { spec: PodSpec } } }[] }>(
      ['get', 'jobs'],
      service.tasks,
    )
    expect(jobs.items[0]?.spec.template.spec.containers[0]?.resources).toMatchObject({
      requests: { cpu: '30m', memory: String(40 * mebibyte) },
      limits: { cpu: '700m', memory: String(600 * mebibyte) },
    })
    await kubectl(['delete', 'tasks.core.svc.ai', 'sized'], { namespace: service.tasks })
  })

  it('run tasks in each served namespace, with a vendor certified by the private authority only', async () => {
    // Applied first: had anybody watched it, it would have begun by the time the others are done.
    await apply(outside, [makeTask('nobody', command('console.log("never")'))])
    const prompt = { type: 'ai', prompt: 'say the word', ai: { providerRef: { name: 'private' } } }
    await apply(second, [makeTask('private', prompt)])
    const made = await service.call('POST', `/api/v1/tasks?namespace=${service.tasks}`, {
      metadata: { name: 'by-rest' },
      spec: command('console.log("done")'),
    })
    expect(made.status).toBe(201)
    await waitForPhase(service.tasks, 'by-rest', 'Succeeded')
    await waitForPhase(second, 'private', 'Succeeded')
    const result = await service.call<object>('GET', `/api/v1/tasks/private/result?namespace=${second}`)
    expect(JSON.stringify(result.body)).toContain('tulip')
    for (const namespace of [service.tasks, second]) {
      const list = await service.call<{ items: { name: string }[] }>('GET', `/api/v1/tasks?namespace=${namespace}`)
      expect([namespace, list.status, list.body.items.length]).toEqual([namespace, 200, 1])
    }
    const untouched = await readTask(outside, 'nobody')
    expect(untouched.status?.phase ?? 'none').toBe('none')
    expect(untouched.metadata.finalizers ?? []).toEqual([])
  })

  it('leave other namespaces alone: they are neither read nor written, whatever the caller may do there', async () => {
    for (const path of ['tasks', 'tasks/nobody', 'agents', 'secrets', 'configmaps', 'usage']) {
      const answer = await service.call<object>('GET', `/api/v1/${path}?namespace=${outside}`)
      expect([path, answer.status]).toEqual([path, 403])
      expect(JSON.stringify(answer.body)).toContain('is not served here')
    }
    const body = { metadata: { name: 'refused' }, spec: command('1') }
    expect((await service.call('POST', `/api/v1/tasks?namespace=${outside}`, body)).status).toBe(403)
    const account = `system:serviceaccount:${service.namespace}:${release}`
    for (const resource of ['tasks.core.svc.ai', 'secrets', 'pods', 'jobs.batch']) {
      const asked = (...place: string[]) => runKubectl(['auth', 'can-i', 'list', resource, '--as', account, ...place])
      expect((await asked('-n', second)).stdout.trim()).toBe('yes')
      expect((await asked('-n', outside)).stdout.trim()).toBe('no')
      expect((await asked('-A')).stdout.trim()).toBe('no')
    }
  })

  it('apply the admission policies to the served namespaces only', async () => {
    const forged = makeTask('forged', {
      ...command('1'),
      requestedBy: { subject: 'somebody', issuer: 'https://id.example.com' },
    })
    for (const namespace of [service.tasks, second])
      await expect(apply(namespace, [forged])).rejects.toThrow('spec.requestedBy is set by the service')
    await expect(apply(outside, [forged])).resolves.toContain('serverside-applied')
  })

  it('can be removed when a namespace that it served is gone', async () => {
    await kubectl(['patch', 'tasks.core.svc.ai', 'private', '--type=merge', '-p', '{"metadata":{"finalizers":[]}}'], {
      namespace: second,
    })
    await kubectl(['delete', 'namespace', second, '--timeout=200s'])
    const { remove } = service
    service = { ...service, remove: async () => undefined }
    await expect(remove()).resolves.toBeUndefined()
  }, 300_000)
})
