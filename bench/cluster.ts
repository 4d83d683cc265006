// Tasks on a real cluster beside bare Jobs; requests to the API server, memory with many tasks, failover. Needs KUBECONFIG,
// helm, and SVC_TEST_IMAGE: an image of the service that the cluster has. BENCH_CLUSTER_PARTS names some of the parts only.
import { request } from 'undici'
import { startClusterDatabase } from '../test/fixtures/cluster-services.ts'
import { applyTasks, type Installation, install } from '../test/fixtures/installation.ts'
import { kubectl, readObject } from '../test/fixtures/kubectl.ts'
import { waitFor } from '../test/fixtures/time.ts'
import { benchCrowd } from './cluster-crowd.ts'
import { benchResume } from './cluster-resume.ts'
import { timePlainJobs } from './floors/plain-jobs.ts'
import { percentile, type Row, report, round } from './measure.ts'

const image = process.env.SVC_TEST_IMAGE ?? ''
const sizes = (process.env.BENCH_CLUSTER_SIZES ?? '50,200').split(',').map(Number)
const stored = Number(process.env.BENCH_CLUSTER_STORED ?? 10_000)
const apiVersion = 'core.svc.ai/v1alpha1'
const metricsPort = 8081
const requestsMetric = 'svc_cluster_requests_total'

export async function run(): Promise<void> {
  if (image === '') throw new Error('SVC_TEST_IMAGE must name an image of the service that the cluster has')
  const database = await startClusterDatabase('bench')
  const service = await install({ image, databaseUrl: database.url })
  try {
    const rows: Row[] = []
    for (const part of (process.env.BENCH_CLUSTER_PARTS ?? Object.keys(parts).join(',')).split(','))
      rows.push(...((await parts[part]?.(service)) ?? []))
    report('cluster', rows)
  } finally {
    await service.remove()
    await database.remove()
  }
}

const parts: Record<string, (service: Installation) => Promise<Row[]>> = {
  tasks: benchSizes,
  resume: (service) => benchResume(service, image),
  failover: benchFailover,
  crowd: (service) => benchCrowd(service, image),
  memory: benchMemory,
}

async function benchSizes(service: Installation): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of sizes) {
    const floor = await timePlainJobs(count, service.tasks, image)
    rows.push({ what: `floor: ${count} bare Jobs`, seconds: round(floor) })
    rows.push(await benchTasks(service, count, floor))
  }
  return rows
}

type Task = { metadata: { name: string }; status?: { phase?: string } }

async function readPhases(service: Installation, prefix: string): Promise<(string | undefined)[]> {
  const { items } = await readObject<{ items: Task[] }>(['get', 'tasks'], service.tasks)
  return items.filter(({ metadata }) => metadata.name.startsWith(prefix)).map(({ status }) => status?.phase)
}

function makeTasks(prefix: string, count: number, more: object = {}): object[] {
  const spec = { type: 'container', image, command: ['true'], ...more }
  return Array.from({ length: count }, (_, index) => ({
    apiVersion,
    kind: 'Task',
    metadata: { name: `${prefix}-${index}` },
    spec,
  }))
}

/** Made as the bare Jobs are: by one `kubectl create`. */
async function createTasks(service: Installation, tasks: object[]): Promise<void> {
  const input = tasks.map((task) => JSON.stringify(task)).join('\n')
  await kubectl(['create', '-f', '-'], { namespace: service.tasks, input })
}

async function benchTasks(service: Installation, count: number, floor: number): Promise<Row> {
  const prefix = `bench${count}`
  const before = await readSamples(service, requestsMetric)
  const started = performance.now()
  await createTasks(service, makeTasks(prefix, count))
  const isOver = (phase: string | undefined) => phase === 'Succeeded' || phase === 'Failed'
  let phases: (string | undefined)[] = []
  await waitFor(
    async () => {
      phases = await readPhases(service, `${prefix}-`)
      return phases.length === count && phases.every(isOver)
    },
    `${count} tasks being over`,
    900_000,
  )
  const seconds = (performance.now() - started) / 1000
  const after = await readSamples(service, requestsMetric)
  const latencies = await readLatencies(service, prefix, count)
  await kubectl(['delete', 'tasks', '--all', '--wait'], { namespace: service.tasks })
  return {
    what: `${count} container tasks`,
    seconds: round(seconds),
    'x floor': round(seconds / floor, 2),
    failed: phases.filter((phase) => phase !== 'Succeeded').length,
    'requests per task': round((sumOf(after) - sumOf(before)) / count),
    requests: describeRequests(before, after, count),
    ...latencies,
  }
}

/** From the timelines, which have milliseconds: created to running, created to succeeded. */
async function readLatencies(service: Installation, prefix: string, count: number): Promise<Row> {
  const toRunning: number[] = []
  const toSucceeded: number[] = []
  for (let index = 0; index < count; index += 1) {
    const path = `/api/v1/tasks/${prefix}-${index}/events?namespace=${service.tasks}`
    const { body } = await service.call<{ items: { phase?: string; createdAt: string }[] }>('GET', path)
    const moments = body.items.toReversed().map(({ phase, createdAt }) => [phase, Date.parse(createdAt)] as const)
    const began = moments[0]?.[1] ?? 0
    toRunning.push((moments.find(([phase]) => phase === 'Running')?.[1] ?? began) - began)
    toSucceeded.push((moments.find(([phase]) => phase === 'Succeeded')?.[1] ?? began) - began)
  }
  return {
    'created to running p50 ms': percentile(toRunning, 0.5),
    'p99 ms': percentile(toRunning, 0.99),
    'created to succeeded p50 ms': percentile(toSucceeded, 0.5),
    'succeeded p99 ms': percentile(toSucceeded, 0.99),
  }
}

type Samples = Map<string, number>

const sumOf = (samples: Samples) => [...samples.values()].reduce((sum, value) => sum + value, 0)

/** The samples of a metric, each the sum over all replicas. */
async function readSamples(service: Installation, name: string): Promise<Samples> {
  const sums: Samples = new Map()
  for (const { ip } of await service.pods()) {
    for (const [labels, value] of await readSamplesOf(ip, name)) sums.set(labels, (sums.get(labels) ?? 0) + value)
  }
  return sums
}

async function readSamplesOf(ip: string, name: string): Promise<Samples> {
  const answer = await request(`http://${ip}:${metricsPort}/metrics`)
  const lines = (await answer.body.text()).split('\n').filter((line) => line.startsWith(name))
  return new Map(lines.map((line): [string, number] => [line.split(' ')[0] ?? '', Number(line.split(' ').at(-1))]))
}

/** What each task costs in requests, the most frequent ones by name. */
function describeRequests(before: Samples, after: Samples, count: number): string {
  const each = [...after].map(([labels, value]) => {
    const [, verb, resource] = /verb="(.*)",resource="(.*)"/.exec(labels) ?? []
    return { what: `${verb} ${resource}`, perTask: (value - (before.get(labels) ?? 0)) / count }
  })
  const shown = each.filter(({ perTask }) => perTask >= 0.1).sort((a, b) => b.perTask - a.perTask)
  return shown.map(({ what, perTask }) => `${what} ${round(perTask)}`).join(', ')
}

/** The leader is killed without a warning: until another leads, and until a task made at that moment runs. */
async function benchFailover(service: Installation): Promise<Row[]> {
  const leads: number[] = []
  const runs: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const leader = await waitFor(() => service.leader(), 'somebody leading')
    const killedAt = performance.now()
    await kubectl(['delete', 'pod', leader, '--grace-period=0', '--force'], { namespace: service.namespace })
    await applyTasks(service, makeTasks(`failover-${round}`, 1))
    await waitFor(async () => ![undefined, leader].includes(await service.leader()), 'another replica leading')
    leads.push((performance.now() - killedAt) / 1000)
    const hasStarted = async () => !['Pending', undefined].includes((await readPhases(service, `failover-${round}`))[0])
    await waitFor(hasStarted, 'a task being started')
    runs.push((performance.now() - killedAt) / 1000)
    await waitFor(async () => (await service.pods()).filter(({ isReady }) => isReady).length === 2, 'two replicas')
  }
  return [
    { what: 'leader killed, until another leads', seconds: round(Math.max(...leads)) },
    { what: 'leader killed, until a task made then was started', seconds: round(Math.max(...runs)) },
  ]
}

async function benchMemory(service: Installation): Promise<Row[]> {
  const before = await largestMemory(service)
  for (let made = 0; made < stored; made += 1000) {
    const suffix = made / 1000
    await createTasks(service, makeTasks(`stored-${suffix}`, Math.min(1000, stored - made), { schedule: '0 0 1 1 *' }))
  }
  const pods = (await service.pods()).length
  // Each replica counts all.
  const isScheduled = async () => sumOf(await readSamples(service, 'svc_tasks{phase="Scheduled"}')) >= stored * pods
  await waitFor(isScheduled, 'every task being seen', 600_000)
  const after = await largestMemory(service)
  await kubectl(['delete', 'tasks', '--all', '--wait=false'], { namespace: service.tasks })
  return [
    { what: 'memory of a replica, idle, MiB', MiB: before },
    { what: `memory of a replica, ${stored} tasks stored, MiB`, MiB: after },
  ]
}

async function largestMemory(service: Installation): Promise<number> {
  const values = await Promise.all(
    (await service.pods()).map(async ({ ip }) => sumOf(await readSamplesOf(ip, 'process_resident_memory_bytes '))),
  )
  return round(Math.max(...values) / 2 ** 20)
}
