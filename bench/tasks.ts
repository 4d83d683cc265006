// Throughput and latency of trivial tasks beside the same programs run bare, with the same sandbox and concurrency.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchFamilyCpu } from './family-cpu.ts'
import { startFloor } from './floor.ts'
import { generateLoad } from './load.ts'
import { percentile, type Row, report, residentMemory, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const instantTasks = Number(process.env.BENCH_INSTANT ?? 20)
const count = Number(process.env.BENCH_TASKS ?? 500)
export const concurrency = Math.max(4, availableParallelism() * 2)

/** `BENCH_PARTS=latency` for tasks one at a time alone; also: command, worker. */
const parts = (process.env.BENCH_PARTS ?? 'latency,command,worker').split(',')
/** Between two tasks that come one at a time: as people send them. */
const pauseMs = Number(process.env.BENCH_PAUSE ?? 1500)

const commandSpec = { type: 'container', command: ['true'] }
const instantSpec = { type: 'ai', ai: { providerRef: { name: 'instant' }, model: 'instant', prompt: 'how is it?' } }
const workerSpec = { type: 'ai', ai: { providerRef: { name: 'demo' }, model: 'demo', prompt: 'say done' } }

export async function run(): Promise<void> {
  const rows: Row[] = []
  const model = await startFloor('instant-model.ts')
  if (parts.includes('latency')) rows.push(...(await benchInstant(model.url)))
  model.child.disconnect()
  for (const [what, spec, floor] of [
    ['command `true`', commandSpec, 'command'],
    ['worker, demo model', workerSpec, 'worker'],
  ] as const) {
    if (!parts.includes(floor)) continue
    const bare = await timeFloor(floor)
    const ours = await benchTasks(spec)
    rows.push({ what: `floor: ${what}, ${count} bare`, seconds: round(bare, 2) })
    rows.push({ what: `${what}, ${count} tasks`, ...ours, 'x floor': round(ours.seconds / bare, 2) })
    rows.push({ what: `${what}, idle, one at a time`, ...(await benchLatency(spec)) })
  }
  if (process.env.BENCH_SOAK) rows.push(...(await soak(Number(process.env.BENCH_SOAK))))
  report('tasks', rows)
}

async function benchTasks(spec: object) {
  const service = await startTaskService()
  await makeDemo(service)
  const started = performance.now()
  await createTasks(service, count, spec)
  await waitUntilFinished(service, count)
  const seconds = (performance.now() - started) / 1000
  const tasks = await listTasks(service)
  const failed = tasks.filter((task) => task.status?.phase !== 'Succeeded').length
  await service.stop()
  return { seconds: round(seconds, 2), failed }
}

/** Latency of one task at a time, from the timeline: created to running, running to succeeded. */
async function benchLatency(spec: object) {
  const service = await startTaskService()
  await makeDemo(service)
  const toRunning: number[] = []
  const toSucceeded: number[] = []
  for (let index = 0; index < 30; index += 1) {
    const began = Date.now()
    await createTasks(service, 1, spec, `one-${index}`)
    const events = await waitForEnd(service, `one-${index}-0`)
    toRunning.push((events.get('Running') ?? 0) - began)
    toSucceeded.push((events.get('Succeeded') ?? 0) - began)
  }
  await service.stop()
  return {
    'created to running p50 ms': percentile(toRunning, 0.5),
    'p99 ms': percentile(toRunning, 0.99),
    'created to succeeded p50 ms': percentile(toSucceeded, 0.5),
    'succeeded p99 ms': percentile(toSucceeded, 0.99),
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Tasks of one call with an instant model, as people send them: the first after the start, with and without a compile cache. */
async function benchInstant(url: string): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-data-'))
  const rows: Row[] = []
  for (const start of ['first start', 'second start']) {
    const service = await startTaskService([], dataDir)
    if (start === 'first start') {
      await post(service, '/api/v1/providers', {
        name: 'instant',
        spec: { type: 'llmo', baseURL: `${url}/v1`, defaultModel: 'instant' },
      })
    }
    const moments = await timeInstant(service, start.slice(0, 5).trim())
    rows.push({ what: `ai task, instant model, ${start}`, ...moments })
    await service.stop()
  }
  rmSync(dataDir, { recursive: true, force: true })
  return rows
}

async function timeInstant(service: RunningService, prefix: string): Promise<Row> {
  await pause(pauseMs)
  const first = await timeOne(service, instantSpec, `${prefix}-first`)
  // The cache of the first start is made now.
  await pause(3 * pauseMs)
  const timeSome = async (part: string) => {
    const took: number[] = []
    for (let index = 0; index < instantTasks; index += 1) {
      took.push(await timeOne(service, instantSpec, `${prefix}-${part}-${index}`))
      await pause(pauseMs)
    }
    return took
  }
  const took = await timeSome('timed')
  // Apart: looking at every process a hundred times a second makes the tasks slower.
  const family = watchFamilyCpu(service.pid)
  await timeSome('counted')
  const cpu = family.stop() / instantTasks
  return {
    'first, created to succeeded ms': first,
    'created to succeeded p50 ms': percentile(took, 0.5),
    'succeeded p99 ms': percentile(took, 0.99),
    'CPU ms': round(cpu, 0),
  }
}

async function timeOne(service: RunningService, spec: object, name: string): Promise<number> {
  const began = Date.now()
  await createTasks(service, 1, spec, name)
  const events = await waitForEnd(service, `${name}-0`)
  return (events.get('Succeeded') ?? 0) - began
}

/** Memory of the service over many finished tasks. */
async function soak(total: number): Promise<Row[]> {
  const service = await startTaskService()
  const rows: Row[] = []
  for (let done = 0; done < total; done += 1000) {
    await createTasks(service, 1000, commandSpec, `soak-${done}`)
    await waitUntilFinished(service, done + 1000)
    rows.push({ what: `service memory after ${done + 1000} tasks, MiB`, MiB: round(residentMemory(service.pid)) })
  }
  await service.stop()
  return rows
}

async function startTaskService(flags: string[] = [], dataDir?: string): Promise<RunningService> {
  return startService(['--max-concurrent-tasks', String(concurrency), ...flags], dataDir)
}

async function makeDemo(service: RunningService): Promise<void> {
  await post(service, '/api/v1/providers', { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } })
}

export async function createTasks(service: RunningService, total: number, spec: object, prefix = 'task') {
  const headers = { authorization: `Bearer ${service.token}` }
  const request = (index: number) => ({
    method: 'POST' as const,
    path: '/api/v1/tasks',
    headers,
    body: JSON.stringify({ metadata: { name: `${prefix}-${index}` }, spec }),
  })
  const result = await generateLoad({ url: service.url, concurrency: 16, total, request, expect: 201 })
  if (result.errors > 0) throw new Error(`${result.errors} of ${total} tasks were refused`)
}

export async function waitUntilFinished(service: RunningService, total: number): Promise<void> {
  for (;;) {
    const phases = await Promise.all(['Pending', 'Running'].map((phase) => countPhase(service, phase)))
    if (phases.every((open) => open === 0) && (await listTasks(service)).length >= total) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

type TaskItem = { status?: { phase?: string } }

/** 1 when there are any. */
export async function countPhase(service: RunningService, phase: string): Promise<number> {
  return ((await get(service, `/api/v1/tasks?limit=1&phase=${phase}`)) as { items: unknown[] }).items.length
}

async function listTasks(service: RunningService): Promise<TaskItem[]> {
  const items: TaskItem[] = []
  let cursor: string | undefined
  do {
    const next = cursor === undefined ? '' : `&continue=${encodeURIComponent(cursor)}`
    const page = (await get(service, `/api/v1/tasks?limit=500${next}`)) as {
      items: TaskItem[]
      metadata: { continue?: string }
    }
    items.push(...page.items)
    cursor = page.metadata.continue
  } while (cursor !== undefined)
  return items
}

async function waitForEnd(service: RunningService, name: string): Promise<Map<string, number>> {
  for (;;) {
    const list = (await get(service, `/api/v1/tasks/${name}/events`)) as {
      items: { phase?: string; createdAt: string }[]
    }
    const moments = new Map(list.items.toReversed().map((event) => [event.phase ?? '', Date.parse(event.createdAt)]))
    if (moments.has('Succeeded')) return moments
    if (moments.has('Failed')) throw new Error(`${name} failed`)
    // The moments are the service's own; asking more often would only keep it busy.
    await pause(50)
  }
}

async function get(service: RunningService, path: string): Promise<unknown> {
  const answer = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${service.token}` } })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

async function post(service: RunningService, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

function timeFloor(kind: 'command' | 'worker'): Promise<number> {
  const script = join(import.meta.dirname, 'floors', 'bare-tasks.ts')
  const child: ChildProcess = spawn(process.execPath, [script, kind, String(count), String(concurrency)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { seconds: number }).seconds))
    child.once('exit', (code) => code !== 0 && reject(new Error(`the floor ended with ${code}`)))
  })
}
