// The network of pods: which of them may reach the service and its gate alone, and that they do where policies are enforced.
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock, systemIds } from '../../src/lib/system-clock.ts'
import type { AttemptKey } from '../../src/ports/tasks/workloads.ts'
import { networkPolicies, type Pod, pods } from '../../src/runtime/jobs/objects.ts'
import { createPodGate, type PodGate, type PodGateOptions } from '../../src/runtime/jobs/pod-gate.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { hostAddress } from '../fixtures/cluster-services.ts'
import { findEnforcerObstacle, type PolicyEnforcer, startPolicyEnforcer } from '../fixtures/policy-enforcer.ts'
import { waitFor } from '../fixtures/time.ts'
import { openSandboxes } from './sandboxes-bench.ts'
import { type ClusterBench, openClusterBench, testImage } from './workloads-bench.ts'

const obstacle = findEnforcerObstacle()

/** Answers whoever connects with one word. */
async function startListener(host: string, word: string): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(`${word}\n`))
  server.listen(0, host)
  await once(server, 'listening')
  return { server, port: (server.address() as { port: number }).port }
}

type Destination = { host: string; port: number; how?: 'udp' }

/** Prints what each destination made of a connection, one a line; of UDP whether a look-up was answered. */
const tryAll = `
const net = require('node:net'), dns = require('node:dns')
if (process.env.AS_USER) process.setuid(Number(process.env.AS_USER))
const tcp = ({ host, port }) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 3000 })
  const end = (is) => { socket.destroy(); resolve(is) }
  socket.once('connect', () => end('open')).once('error', (error) => end(error.code)).once('timeout', () => end('silent'))
})
const udp = ({ host, port }) => new Promise((resolve) => {
  const resolver = new dns.Resolver({ timeout: 1500, tries: 1 })
  try { resolver.setServers([net.isIPv6(host) ? '[' + host + ']:' + port : host + ':' + port]) } catch (error) { return resolve(error.code) }
  resolver.resolve4('kubernetes.default.svc.cluster.local', (error) => resolve(error ? error.code : 'open'))
})
const all = JSON.parse(process.env.DESTINATIONS)
Promise.all(all.map(async (each) => [each, await (each.how === 'udp' ? udp(each) : tcp(each))])).then((found) => {
  for (const [{ host, port, how = 'tcp' }, is] of found) console.log(how, host, port, is)
  const end = (is) => { console.log('name', is); process.exit(0) }
  dns.lookup('kubernetes.default.svc.cluster.local', (error) => end(error ? error.code : 'found'))
  setTimeout(() => end('ETIMEOUT'), 5000)
})`

/** The rules are for the gate itself, which is not asked here. */
const network = { rules: { allow: [], onUnknown: 'refuse' as const, ports: [] }, from: 'task' as const }

let number = 0

async function runAttempt(bench: ClusterBench, destinations: Destination[], isGated = false) {
  number += 1
  const key: AttemptKey = { taskUid: `uid-of-network-${number}`, attempt: 1 }
  await bench.workloads.ensure({
    key,
    namespace: bench.namespace,
    taskName: `network-${number}`,
    limits: {},
    ...(isGated && { network }),
    run: {
      kind: 'command',
      command: ['node', '-e', tryAll],
      args: [],
      env: { DESTINATIONS: JSON.stringify(destinations) },
    },
  })
  const { namespace } = bench
  const listed = await bench.api.request<{ items: Pod[] }>({ verb: 'list', collection: pods, namespace })
  const state = await waitFor(
    async () => {
      const now = await bench.workloads.observe(key)
      return (now.phase === 'Succeeded' || now.phase === 'Failed') && now
    },
    'the attempt has ended',
    90_000,
  )
  const output = 'output' in state ? (state.output?.text ?? '') : ''
  const policies = await bench.api.request<{ items: { metadata: { name: string }; spec: object }[] }>({
    verb: 'list',
    collection: networkPolicies,
    namespace,
  })
  await bench.workloads.remove(key)
  return { lines: output.trim().split('\n'), pods: listed.items, policies: policies.items, state }
}

describeOnCluster('the network of pods', () => {
  let bench: ClusterBench
  let gate: Awaited<ReturnType<typeof startListener>>
  let neighbour: Awaited<ReturnType<typeof startListener>>
  beforeAll(async () => {
    gate = await startListener(hostAddress, 'gate')
    neighbour = await startListener(hostAddress, 'neighbour')
    bench = await openClusterBench()
    // Whether policies are enforced is found out once.
    unenforced = openGate()
    bench.workloads = bench.restart({ gate: unenforced })
  })
  afterAll(async () => {
    gate.server.close()
    neighbour.server.close()
    await bench.close()
  })

  let unenforced: PodGate
  const warnings: string[] = []
  const openGate = (more: Partial<PodGateOptions> = {}) => {
    const url = `http://svc.machine.example:${gate.port}`
    const find = async () => [{ address: hostAddress }]
    const log = { info: () => undefined, warn: (_fields: object, message: string) => void warnings.push(message) }
    const urls = { serviceUrl: url, gateUrl: () => url, find, log, required: false }
    return createPodGate({ ...parts(), ...urls, ...more })
  }
  const parts = () => {
    const { api, namespace } = bench
    return { api, clock: systemClock, ids: systemIds, instance: namespace, namespace, image: testImage }
  }
  const gateByName = () => ({ host: 'svc.machine.example', port: gate.port })

  it('has no names but those of the service, and is selected by no policy that an earlier version left open', async () => {
    const { namespace } = bench
    const name = `${namespace}-workers`
    const matchExpressions = [{ key: 'svc.ai/component', operator: 'In', values: ['worker', 'command'] }]
    const spec = { podSelector: { matchExpressions }, policyTypes: ['Egress'], egress: [{}] }
    const body = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name }, spec }
    await bench.api.request({ verb: 'create', collection: networkPolicies, namespace, body })
    const { lines, policies, state } = await runAttempt(bench, [gateByName()], true)
    expect(state.phase).toBe('Succeeded')
    expect(lines[0]).toBe(`tcp svc.machine.example ${gate.port} open`)
    expect(lines[1]).toMatch(/^name E/)
    const workers = policies.find((policy) => policy.metadata.name === name)
    expect(workers?.spec).toMatchObject({
      podSelector: {
        matchExpressions: [matchExpressions[0], { key: 'svc.ai/network', operator: 'NotIn', values: ['gate'] }],
      },
    })
    const gated = policies.find((policy) => policy.metadata.name === `${namespace}-gated`)
    expect(gated?.spec).toMatchObject({
      podSelector: { matchLabels: { 'svc.ai/network': 'gate', 'svc.ai/instance': namespace } },
      egress: [0, 1].map(() => ({
        to: [{ ipBlock: { cidr: `${hostAddress}/32` } }],
        ports: [{ protocol: 'TCP', port: gate.port }],
      })),
    })
  })

  it('waits while its policy cannot be written', async () => {
    const { api } = bench
    const failing = {
      ...api,
      request: ((request: Parameters<typeof api.request>[0]) =>
        request.name?.endsWith('-gated')
          ? Promise.reject(new Error('no right'))
          : api.request(request)) as typeof api.request,
    }
    const workloads = bench.restart({ api: failing, gate: unenforced })
    const key = { taskUid: 'uid-of-no-policy', attempt: 1 }
    const run = { kind: 'command' as const, command: ['true'], args: [], env: {} }
    const spec = { key, namespace: bench.namespace, taskName: 'no-policy', limits: {}, network, run }
    await expect(workloads.ensure(spec)).rejects.toMatchObject({ reason: 'Unavailable' })
    expect(await workloads.observe(key)).toEqual({ phase: 'Missing' })
  })

  it('is said to be not enforced where the plugin enforces no policies, and refused where that is required', async () => {
    expect(warnings[0]).toContain('enforces no network policies')
    await expect(openGate({ required: true }).prepare()).rejects.toMatchObject({ reason: 'Unavailable' })
  })

  describe.skipIf(obstacle !== undefined)(obstacle === undefined ? 'enforced' : `(skipped: ${obstacle})`, () => {
    let enforcer: PolicyEnforcer
    beforeAll(() => {
      enforcer = startPolicyEnforcer(process.env.KUBECONFIG ?? '')
      bench.workloads = bench.restart({ gate: openGate({ required: true }) })
    })
    afterAll(() => enforcer.stop())

    /** Services, addresses of the machine, the metadata of clouds, names outside, in every spelling that a socket takes. */
    const listOutside = async (): Promise<Destination[]> => {
      const { items } = await bench.api.request<{ items: Pod[] }>({ verb: 'list', collection: pods })
      const others = items.flatMap(({ status }) => (status as { podIP?: string } | undefined)?.podIP ?? []).slice(0, 3)
      const addresses = [
        '1.1.1.1',
        '8.8.8.8',
        '9.9.9.9',
        '151.101.1.69',
        '140.82.121.3',
        '104.16.0.35',
        '203.0.113.7',
        '10.96.0.2',
        '172.17.0.1',
        '192.168.0.1',
      ]
      const clouds = [
        '169.254.169.254',
        '169.254.170.2',
        '169.254.170.23',
        '169.254.0.1',
        '100.100.100.200',
        '168.63.129.16',
        '192.0.0.192',
      ]
      const v6 = ['fd00:ec2::254', '2606:4700:4700::1111', '::ffff:1.1.1.1', 'fe80::1']
      const spelled = [
        '0x01010101',
        '16843009',
        '1.1',
        '001.1.1.1',
        'example.com',
        'one.one.one.one',
        'localhost.example',
      ]
      return [
        { host: hostAddress, port: neighbour.port },
        ...[22, 80, 443, 6443, 8080, 10250, 10256].map((port) => ({ host: hostAddress, port })),
        { host: '10.96.0.1', port: 443 },
        { host: '10.96.0.10', port: 53 },
        ...['10.96.0.10', hostAddress, '8.8.8.8', '127.0.0.53'].map((host) => ({
          host,
          port: 53,
          how: 'udp' as const,
        })),
        ...others.map((host) => ({ host, port: 8080 })),
        ...[...addresses, ...clouds, ...v6, ...spelled].map((host) => ({ host, port: 443 })),
      ]
    }

    it('lets a pod reach the gate and nothing else: 40 destinations', async () => {
      const isEnforced = () =>
        openGate({ required: true })
          .prepare()
          .then(Boolean, () => false)
      await waitFor(isEnforced, 'policies being enforced', 120_000)
      const outside = await listOutside()
      expect(outside.length).toBeGreaterThanOrEqual(40)
      const { lines } = await runAttempt(bench, [gateByName(), ...outside], true)
      expect(lines.filter((line) => / (?:open|found)$/.test(line))).toEqual([
        `tcp svc.machine.example ${gate.port} open`,
      ])
      expect(lines).toHaveLength(outside.length + 2)
    })

    it('lets a sandbox of agent-sandbox reach the gate and nothing else, as root and as a plain user: 40 destinations', async () => {
      const sandboxes = await openSandboxes('v1beta1')
      try {
        await sandboxes.addTemplate('plain')
        const workspaces = sandboxes.openWorkspaces({ gate: openGate({ required: true }) })
        const claim = sandboxes.claimOf('plain')
        await workspaces.claim(claim)
        await workspaces.waitUntilReady(claim, { timeoutMs: 60_000, signal: new AbortController().signal })
        const tryInside = async (destinations: Destination[], user: string) => {
          const id = `try-${systemIds.hex(6)}`
          const env = { DESTINATIONS: JSON.stringify(destinations), AS_USER: user }
          const command = { id, command: ['node', '-e', tryAll], env, timeoutSeconds: 60, maxOutputBytes: 64 * 1024 }
          await workspaces.start(claim, command)
          const end = await waitFor(async () => {
            const state = await workspaces.observeCommand(claim, id)
            return state.phase === 'Ended' && state
          }, 'the program has ended')
          return end.stdout.trim().split('\n')
        }
        const next = { host: hostAddress, port: neighbour.port }
        const reachesNeighbour = async () => (await tryInside([next], '0'))[0]?.endsWith(' open') === true
        expect(await reachesNeighbour()).toBe(true)
        await workspaces.limitNetwork?.(claim, true)
        await waitFor(async () => !(await reachesNeighbour()), 'its policy being in force')
        const outside = await listOutside()
        const open = { host: hostAddress, port: gate.port }
        const found = await Promise.all(['0', '1000'].map((user) => tryInside([open, ...outside], user)))
        for (const lines of found) {
          expect(lines).toHaveLength(outside.length + 2)
          const reached = lines.filter((line) => / (?:open|found)$/.test(line))
          // It finds the service by its name, so that the names of the cluster are left to it.
          expect(reached.filter((line) => !/^(?:name|tcp 10.96.0.10 53|udp 10.96.0.10 53) /.test(line))).toEqual([
            `tcp ${open.host} ${open.port} open`,
          ])
        }
        await workspaces.limitNetwork?.(claim, false)
        await waitFor(reachesNeighbour, 'a task with an open network has it again')
        await workspaces.delete(claim)
      } finally {
        await sandboxes.close()
      }
    })

    it('leaves the pods alone whose network is open', async () => {
      const { lines } = await runAttempt(bench, [{ host: hostAddress, port: neighbour.port }])
      expect(lines).toEqual([`tcp ${hostAddress} ${neighbour.port} open`, 'name found'])
    })
  })
})
