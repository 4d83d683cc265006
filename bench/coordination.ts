// Coordinators that wait: how soon they go on when the child has ended, and what many parked ones cost the service.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readText, startVendor, type VendorAnswer, type VendorRequest } from '../test/fixtures/llm/scripted-vendor.ts'
import { listFamily } from './family-cpu.ts'
import { percentile, type Row, report, residentMemory, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'
import { concurrency } from './tasks.ts'

/** `BENCH_PARTS=resume` or `parked` for one of them alone. */
const parts = (process.env.BENCH_PARTS ?? 'resume,parked').split(',')
const runs = Number(process.env.BENCH_RUNS ?? 30)
const parkedCounts = (process.env.BENCH_PARKED ?? '100,1000').split(',').map(Number)
const batch = 20

type Condition = { type: string; status: string }
type Task = { metadata: { name: string }; status?: { phase?: string; message?: string; conditions?: Condition[] } }

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const call = (name: string, args: object): VendorAnswer => [{ call: { name, args } }]

/** When models were asked, and who may go on. */
type Play = {
  asked: Map<string, number>
  /** Lets the child of this run answer. */
  release: Map<string, () => void>
}

export async function run(): Promise<void> {
  const rows: Row[] = []
  const play: Play = { asked: new Map(), release: new Map() }
  const vendor = await startVendor((request) => answer(request, play))
  if (parts.includes('resume')) rows.push(...(await benchResume(vendor.url, play)))
  if (parts.includes('parked')) for (const count of parkedCounts) rows.push(...(await benchParked(vendor.url, count)))
  await vendor.close()
  report('coordination', rows)
}

/** By `case:KIND-RUN` in the prompt and by how often the model has answered already. */
async function answer(request: VendorRequest, { asked, release }: Play): Promise<VendorAnswer> {
  const texts = request.messages.filter(({ role }) => role === 'user').map(({ content }) => readText(content))
  const [, kind = '', of = ''] = /case:(\w+)-(\d+)/.exec(texts.join('\n')) ?? []
  const results = request.messages.filter(({ role }) => role === 'tool')
  const turn = request.messages.filter(({ role }) => role === 'assistant').length
  asked.set(`${kind}-${of}-${turn}`, Date.now())
  if (kind === 'ask') return call('request_approval', { message: 'May I go on?' })
  if (kind === 'child') {
    const { promise, resolve } = Promise.withResolvers<void>()
    release.set(of, resolve)
    await promise
    return [{ text: 'done' }]
  }
  if (turn === 0) return call('delegate_task', { agent: 'leaf', prompt: `case:child-${of}` })
  if (turn > 1) return [{ text: 'heard' }]
  const { taskName } = JSON.parse(readText(results[0]?.content)) as { taskName: string }
  return call('wait_for_tasks', { tasks: [taskName] })
}

async function send<T>(service: RunningService, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
  const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${service.url}/api/v1/${path}`, request)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

async function makeAgents(service: RunningService, url: string): Promise<void> {
  const provider = { type: 'llmo', baseURL: url, defaultModel: 'scripted' }
  await send(service, 'providers', { name: 'vendor', spec: provider })
  const providerRef = { name: 'vendor' }
  await send(service, 'agents', { name: 'leaf', spec: { providerRef } })
  const coordination = { enabled: true, allowedAgents: [{ name: 'leaf' }] }
  await send(service, 'agents', { name: 'lead', spec: { providerRef, coordination } })
}

const start = (service: RunningService, name: string, script: string) =>
  send(service, 'tasks', { name, spec: { type: 'ai', agentRef: { name: 'lead' }, ai: { prompt: `case:${script}` } } })

async function until(isSo: () => boolean | Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await isSo())) await pause(everyMs)
}

async function isParked(service: RunningService, name: string): Promise<boolean> {
  const { status } = await send<Task>(service, `tasks/${name}`)
  if (status?.phase === 'Failed') throw new Error(`${name} failed: ${status.message}`)
  return status?.conditions?.some((condition) => condition.type === 'Parked' && condition.status === 'True') ?? false
}

/** The moment in ms since 1970 at which the service wrote down that the task has succeeded. */
async function readEnd(service: RunningService, name: string): Promise<number> {
  const list = await send<{ items: { phase?: string; createdAt: string }[] }>(service, `tasks/${name}/events`)
  return Date.parse(list.items.find(({ phase }) => phase === 'Succeeded')?.createdAt ?? '')
}

async function timeRun(service: RunningService, of: number, { asked, release }: Play) {
  const lead = `lead-${of}`
  const momentOf = async (what: string) => {
    await until(() => asked.has(what), 1)
    return asked.get(what) ?? 0
  }
  await start(service, lead, `lead-${of}`)
  const childAsked = await momentOf(`child-${of}-0`)
  await until(() => isParked(service, lead), 50)
  // A worker for the next one is started meanwhile; the child of a real coordinator takes longer.
  await pause(1000)
  release.get(String(of))?.()
  const resumed = await momentOf(`lead-${of}-2`)
  await until(async () => (await send<Task>(service, `tasks/${lead}`)).status?.phase === 'Succeeded', 50)
  const { items } = await send<{ items: Task[] }>(service, `tasks/${lead}/children`)
  const ended = await readEnd(service, items[0]?.metadata.name ?? '')
  return { delegated: childAsked - (asked.get(`lead-${of}-0`) ?? 0), resumed: resumed - ended }
}

async function benchResume(url: string, play: Play): Promise<Row[]> {
  const service = await startService(['--max-concurrent-tasks', String(concurrency)])
  await makeAgents(service, url)
  const samples: Awaited<ReturnType<typeof timeRun>>[] = []
  // The first one is no sample: it starts with nothing in memory.
  for (let of = 0; of <= runs; of += 1) samples.push(await timeRun(service, of, play))
  await service.stop()
  const show = (what: string, took: number[]): Row => ({
    what,
    'p50 ms': percentile(took, 0.5),
    'p99 ms': percentile(took, 0.99),
    // What the others of a busy machine have not delayed.
    'least ms': Math.min(...took),
  })
  const kept = samples.slice(1)
  return [
    show(
      'coordinator first asked to child first asked',
      kept.map(({ delegated }) => delegated),
    ),
    show(
      'child ended to coordinator asked again',
      kept.map(({ resumed }) => resumed),
    ),
  ]
}

async function showMemory(what: string, service: RunningService): Promise<Row> {
  await pause(3000)
  return { what, MiB: round(residentMemory(service.pid)), 'processes of it': listFamily(String(service.pid)).length }
}

/** Memory of the service before, with so many parked, and with them after a restart: what they cost but for the work of parking. */
async function benchParked(url: string, count: number): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-data-'))
  const flags = ['--max-concurrent-tasks', String(concurrency)]
  const service = await startService(flags, dataDir)
  await makeAgents(service, url)
  const rows = [await showMemory(`before ${count}`, service)]
  for (let done = 0; done < count; done += batch) {
    const names = Array.from({ length: Math.min(batch, count - done) }, (_, at) => `ask-${done + at}`)
    await Promise.all(names.map((name) => start(service, name, name)))
    for (const name of names) await until(() => isParked(service, name), 100)
  }
  rows.push(await showMemory(`${count} parked`, service))
  await service.stop()
  const again = await startService(flags, dataDir)
  rows.push(await showMemory(`${count} parked, after a restart`, again))
  if (!(await isParked(again, `ask-${count - 1}`))) throw new Error('the coordinators are no longer parked')
  await again.stop()
  rmSync(dataDir, { recursive: true, force: true })
  return rows
}
