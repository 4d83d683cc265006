// The service, or what it stands on, is away while tasks run and end: none fails, none runs twice, and none of their words is lost.
// OUTAGE_MS makes the outages longer, and adds that of the API server, which faults.test.ts has in every run for commands, and a
// database that has another password or another address.
import { networkInterfaces } from 'node:os'
import { request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isTerminalPhase, type Task } from '../../src/contract/kinds/tasks/task.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type Cut, cutNetwork, findClusterProcess } from '../fixtures/cluster-cuts.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { applyTasks, findObstacle, type Installation, install, release, undoAll } from '../fixtures/installation.ts'
import { applyManifest, kubectl, readObject } from '../fixtures/kubectl.ts'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { pause, waitFor } from '../fixtures/time.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'
const agentImage = (process.env.SVC_TEST_AGENT_IMAGE ?? '').split(',').find((each) => each.startsWith('acp='))
const outageMs = Number(process.env.OUTAGE_MS ?? 12_000)
const isLong = process.env.OUTAGE_MS !== undefined
/** Of this machine, which is the node. */
const otherAddress = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal, address }) => family === 'IPv4' && !internal && address !== hostAddress)?.address
/** A node whose API server is away for longer is given up, with its pods. */
const longestApiOutageMs = 25_000
/** Whoever sends into a cut network tries again after ever longer pauses, each as long as all before it. */
const patienceMs = 180_000 + outageMs
/** What runs ends while the outage lasts. */
const seconds = 10
/** Without an image of an agent program three more tasks are talks. */
const agent = agentImage === undefined ? 'talk' : 'agent'
const kinds = ['talk', 'talk', 'tool', 'run', 'run', 'run', agent, agent, agent] as const
type Kind = (typeof kinds)[number]

/** The name of its task, which is what the task asks for. */
function readPrompt({ messages }: VendorRequest): string {
  const text = readText(messages.find(({ role }) => role === 'user')?.content)
  return /^[a-z-]+-\d$/m.exec(text)?.[0] ?? text
}

/** Talks take their time; one that calls a tool is asked a second time with what that answered. */
async function answer(request: VendorRequest): Promise<VendorAnswer> {
  const { messages, stream } = request
  const prompt = readPrompt(request)
  const hasResult = messages.some(({ role }) => role === 'tool')
  if (prompt.includes('tool') && !hasResult) return [{ call: { name: 'update_plan', args: { steps: ['wait'] } } }]
  await pause(seconds * 1000)
  const text = `done by ${prompt}`
  return stream === true ? [{ text }] : { whole: text }
}

describeOnCluster(`outages on a cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let vendor: ScriptedVendor

  const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })
  const makeTask = (name: string, kind: Kind) => {
    const loop = `for line in $(seq ${seconds}); do echo line $line; sleep 1; done; echo done by ${name}`
    const talk = { type: 'ai', ai: { providerRef: { name: 'main' } }, prompt: name }
    const specs: Record<Kind, object> = {
      run: { type: 'container', image, command: ['sh', '-c', loop] },
      talk,
      tool: talk,
      agent: { type: 'agent', agentRef: { name: 'acp' }, prompt: name },
    }
    return make('Task', name, specs[kind])
  }
  const scale = async (replicas: number) => {
    const args = ['scale', `deployment/${release}`, `--replicas=${replicas}`]
    await kubectl(args, { namespace: service.namespace })
    if (replicas === 0)
      await kubectl(['delete', 'pods', '--all', '--grace-period=0', '--force'], { namespace: service.namespace })
  }
  const countCalls = (name: string) => vendor.requests.filter((request) => readPrompt(request) === name).length
  let mend: () => Promise<number> = async () => 0
  /** Workers do not reach the service, nor the service its database. */
  const cut = async () => {
    const replicas = (await service.pods()).map(({ ip }): Cut => ({ chain: 'FORWARD', to: ip, port: 8080 }))
    mend = await cutNetwork([...replicas, { chain: 'INPUT', to: hostAddress, port: database.port }])
  }
  let nextUrl = ''
  /** Every replica says that it cannot use its database. */
  const expectRefused = async (reason: RegExp) => {
    for (const { name, ip } of await service.pods()) {
      const headers = { authorization: `Bearer ${service.token}` }
      const ask = (path: string) => request(`http://${ip}:8080${path}`, { headers })
      const [readiness, usage] = [await ask('/readyz'), await ask(`/api/v1/usage?namespace=${service.tasks}`)]
      expect([name, readiness.statusCode, usage.statusCode]).toEqual([name, 503, 503])
      expect(Number(usage.headers['retry-after'])).toBeGreaterThan(0)
      expect(await readiness.body.json()).toMatchObject({ checks: { records: 'unhealthy', cluster: 'ok' } })
      expect(await usage.body.text()).toContain('The database cannot be used now')
      expect(await kubectl(['logs', name], { namespace: service.namespace })).toMatch(reason)
    }
  }
  /** What an operator does, by docs/kubernetes.md. */
  const renewAddress = async () => {
    const { namespace } = service
    const metadata = { name: 'svc-database' }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { url: nextUrl } }
    await applyManifest(JSON.stringify(secret), { namespace })
    await kubectl(['rollout', 'restart', `deployment/${release}`], { namespace })
    await kubectl(['rollout', 'status', `deployment/${release}`, '--timeout=150s'], { namespace })
  }
  const renew = async (reason: RegExp) => {
    try {
      await expectRefused(reason)
    } finally {
      await renewAddress()
    }
  }
  const apiServer = findClusterProcess('apiserver') ?? 0

  beforeAll(async () => {
    vendor = await startVendor(answer, hostAddress)
    database = await startClusterDatabase('outages')
    const settings = { agentProgram: ['acp=node /opt/agent/acp-agent.mjs'], agentImage: agentImage?.split(' ') ?? [] }
    service = await install({ image, databaseUrl: database.url, replicas: 2, more: { settings } })
    const secretRef = { name: 'vendor', key: 'api-key' }
    await applyTasks(service, [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vendor' }, stringData: { 'api-key': 'made-up-key-0009' } },
      make('Provider', 'main', { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', secretRef }),
      make('Agent', 'acp', { runtime: { runtimeRef: { name: 'acp' } }, model: { name: 'main/m' } }),
    ])
  }, 300_000)
  afterAll(() => undoAll(service?.remove, database?.remove, () => vendor?.close()), 180_000)

  /** What is away, for how long, and how many calls an agent program may pay for one answer when its connection breaks. */
  type Outage = { what: string; lastsMs: number; calls: number; begin(): unknown; end(): unknown }
  const outages: Outage[] = [
    {
      what: 'PostgreSQL',
      lastsMs: outageMs,
      calls: 1,
      begin: () => database.server.stop('immediate'),
      end: () => database.server.start(),
    },
    { what: 'every replica', lastsMs: outageMs, calls: 2, begin: () => scale(0), end: () => scale(2) },
  ]
  const network: Outage = {
    what: 'the network',
    lastsMs: outageMs,
    calls: 2,
    begin: cut,
    end: async () => expect(await mend()).toBeGreaterThan(0),
  }
  const cluster: Outage = {
    what: 'the API server',
    lastsMs: Math.min(outageMs, longestApiOutageMs),
    calls: 1,
    begin: () => process.kill(apiServer, 'SIGSTOP'),
    end: () => process.kill(apiServer, 'SIGCONT'),
  }
  if (apiServer !== 0) outages.push(network)
  const password: Outage = {
    what: 'the password',
    lastsMs: outageMs,
    calls: 2,
    begin: () => {
      nextUrl = database.changePassword()
    },
    end: () => renew(/password authentication failed/),
  }
  const place: Outage = {
    what: 'the address',
    lastsMs: outageMs,
    calls: 2,
    begin: async () => {
      nextUrl = await database.move(otherAddress ?? '')
    },
    end: () => renew(/ECONNREFUSED/),
  }
  if (apiServer !== 0 && isLong) outages.push(cluster)
  if (isLong) outages.push(password)
  if (otherAddress !== undefined && isLong) outages.push(place)

  const read = (name: string) => readObject<Task>(['get', 'task', name], service.tasks)
  async function waitForAll(names: string[], title: string, is: (task: Task) => boolean): Promise<void> {
    for (const name of names) await waitFor(async () => is(await read(name)), `${name} ${title}`, patienceMs)
  }
  async function expectDone(name: string, kind: Kind, calls: number): Promise<void> {
    const { status } = await read(name)
    expect(status, JSON.stringify(status)).toMatchObject({ phase: 'Succeeded', attempts: 1 })
    const path = `/api/v1/tasks/${name}/result?namespace=${service.tasks}`
    const { body } = await service.call<{ result: string }>('GET', path)
    expect(body.result).toContain(`done by ${name}`)
    if (kind === 'run') expect(body.result.split('\n').filter((line) => line.startsWith('line'))).toHaveLength(seconds)
    else if (kind === 'agent') expect(countCalls(name)).toBeLessThanOrEqual(calls)
    else expect(countCalls(name)).toBe(kind === 'tool' ? 2 : 1)
  }

  it.each(outages)(
    '$what is away: every task that ends meanwhile succeeds, once',
    async ({ what, lastsMs, calls, begin, end }) => {
      const prefix = what.toLowerCase().replaceAll(' ', '-')
      const tasks = kinds.map((kind, at) => ({ kind, name: `${prefix}-${kind}-${at}` }))
      const names = tasks.map(({ name }) => name)
      await applyTasks(
        service,
        tasks.map(({ name, kind }) => makeTask(name, kind)),
      )
      await waitForAll(names, 'to run', ({ status }) => status?.phase === 'Running')
      try {
        await begin()
        await pause(lastsMs)
      } finally {
        await end()
      }
      await waitForAll(names, 'to end', ({ status }) => isTerminalPhase(status?.phase))
      for (const { name, kind } of tasks) await expectDone(name, kind, calls)
    },
    2 * patienceMs + outageMs,
  )
})
