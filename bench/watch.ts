// Lists out of many stored tasks beside the bare query, and a thousand watchers beside a bare fan-out of the same bytes.
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { startFloor } from './floor.ts'
import { generateLoad } from './load.ts'
import { percentile, type Row, readCpu, report, residentMemory, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const stored = Number(process.env.BENCH_STORED ?? 10_000)
const watchers = Number(process.env.BENCH_WATCHERS ?? 1000)
const changes = Number(process.env.BENCH_CHANGES ?? 20)

export async function run(): Promise<void> {
  report('watch: lists', await measureLists())
  const floor = await startFloor('bare-events.ts')
  const service = await startService()
  const own = await measureWatchers('svc', targetOf(service))
  const pid = floor.child.pid ?? 0
  const bare = await measureWatchers('floor: bare node:http', {
    url: floor.url,
    pid,
    path: '/',
    send: '/',
    text: () => own.frame,
  })
  floor.child.disconnect()
  await service.stop()
  report('watch: watchers', [own.row, bare.row])
}

const spec = { type: 'container', command: ['true'], schedule: '0 0 1 1 *', suspend: true }

function headersOf({ token }: RunningService) {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function fill(service: RunningService): Promise<void> {
  const request = (index: number) => ({
    method: 'POST' as const,
    path: '/api/v1/tasks',
    headers: headersOf(service),
    body: JSON.stringify({ metadata: { name: `fill-${index}`, labels: { batch: `b${index % 100}` } }, spec }),
  })
  await generateLoad({ url: service.url, concurrency: 64, total: stored, request, expect: 201 })
  while ((await readPage(service, '/api/v1/tasks?phase=Pending&limit=1')).items.length > 0) await pause(200)
}

type Page = { items: unknown[]; metadata: { continue?: string } }

async function readPage(service: RunningService, path: string): Promise<Page> {
  return (await fetch(service.url + path, { headers: headersOf(service) })).json() as Promise<Page>
}

const queries = {
  'page of 100, newest first': 'sort=-created&limit=100',
  'the same, summaries': 'sort=-created&limit=100&view=summary',
  'page of 100 by label': 'labelSelector=batch%3Db7&limit=100',
  'page of 100 by phase, newest first': 'phase=Scheduled&sort=-created&limit=100',
}

async function measureLists(): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-data-'))
  const first = await startService([], dataDir)
  await fill(first)
  await first.stop()
  // The first answer of a service that has just started is the cold one.
  const service = await startService([], dataDir)
  const rows: Row[] = []
  for (const [what, query] of Object.entries(queries)) {
    const path = `/api/v1/tasks?${query}`
    const began = performance.now()
    await readPage(service, path)
    const cold = round(performance.now() - began)
    const request = () => ({ method: 'GET' as const, path, headers: headersOf(service) })
    const { p50, p99, perSecond } = await generateLoad({
      url: service.url,
      concurrency: 1,
      total: 400,
      request,
      expect: 200,
    })
    rows.push({ what: `svc: ${what}`, 'cold ms': cold, 'p50 ms': p50, 'p99 ms': p99, 'per second': perSecond })
  }
  rows.push(await measureAllPages(service), ...measureBareQueries(service.dataDir))
  await service.stop()
  rmSync(dataDir, { recursive: true })
  return rows
}

async function measureAllPages(service: RunningService): Promise<Row> {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now()
    let next = ''
    do {
      const page = await readPage(service, `/api/v1/tasks?limit=500${next}`)
      next = page.metadata.continue === undefined ? '' : `&continue=${encodeURIComponent(page.metadata.continue)}`
    } while (next !== '')
    times.push(performance.now() - began)
  }
  return {
    what: `svc: all ${stored} in pages of 500`,
    'cold ms': round(times[0] ?? 0),
    'p50 ms': round(percentile(times, 0.5)),
  }
}

/** The same rows out of the same file, with nothing around the query. */
function measureBareQueries(dataDir: string): Row[] {
  const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
  const newest = `select object from resources where kind = 'Task' order by created desc limit 100`
  const labelled = `select r.object from resource_index i join resources r using (kind, namespace, name)
    where i.kind = 'Task' and i.field = 'label:batch' and i.value = 'b7' order by i.namespace, i.name limit 100`
  const all = `select object from resources where kind = 'Task' order by namespace, name`
  const bare = { 'page of 100, newest first': newest, 'page of 100 by label': labelled, [`all ${stored}`]: all }
  const rows = Object.entries(bare).map(([what, text]): Row => {
    const query = database.prepare(text).pluck()
    const times = Array.from({ length: what.startsWith('all') ? 5 : 400 }, () => {
      const began = performance.now()
      if (query.all().length === 0) throw new Error(`${what} finds nothing`)
      return performance.now() - began
    })
    return {
      what: `floor: bare query, ${what}`,
      'cold ms': round(times[0] ?? 0, 2),
      'p50 ms': round(percentile(times, 0.5), 2),
      'p99 ms': round(percentile(times, 0.99), 2),
    }
  })
  database.close()
  return rows
}

type Target = {
  url: string
  pid: number
  /** Where changes are seen. */
  path: string
  /** Where the n-th change is made. */
  send: string
  text: (index: number) => string
  headers?: Record<string, string>
}

function targetOf(service: RunningService): Target {
  const { url, pid } = service
  const path = '/api/v1/watch?kinds=Task&namespaces=live'
  const text = (index: number) => JSON.stringify({ metadata: { name: `live-${index}`, namespace: 'live' }, spec })
  return { url, pid, path, send: '/api/v1/tasks?namespace=live', text, headers: headersOf(service) }
}

type Audience = { told(added: number): Promise<void>; events(): number; frame(): string; close(): void }

/** Listeners that count what they are told, each of them everything once. */
async function openAudience({ url, path, headers = {} }: Target): Promise<Audience> {
  let added = 0
  let events = 0
  let frame = ''
  let expected = { added: 0, resolve: () => {} }
  const take = (text: string) => {
    added += text.split('event: added').length - 1
    events += text.split('event: ').length - 1
    frame = /(id: .*\n)?event: added\n.*\n\n/.exec(text)?.[0] ?? frame
    if (added >= expected.added) expected.resolve()
  }
  const requests = Array.from({ length: watchers }, () => {
    const request = get(url + path, { headers, agent: false })
    const opened = new Promise<void>((resolve, reject) => {
      request.on('error', reject).on('response', (response) => {
        response
          .setEncoding('latin1')
          .on('data', take)
          .once('data', () => resolve())
        response.on('error', () => undefined)
      })
    })
    return { request, opened }
  })
  await Promise.all(requests.map(({ opened }) => opened))
  return {
    told: (each) =>
      new Promise((resolve) => {
        expected = { added: each * watchers, resolve }
        take('')
      }),
    events: () => events,
    frame: () => frame,
    close: () => requests.forEach(({ request }) => void request.destroy()),
  }
}

async function send({ url, send: path, headers, text }: Target, index: number): Promise<void> {
  const answer = await fetch(url + path, { method: 'POST', body: text(index), ...(headers && { headers }) })
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}`)
  await answer.arrayBuffer()
}

/** Changes one after the other, each until the last watcher has it, then as many at once. */
async function measureWatchers(what: string, target: Target): Promise<{ row: Row; frame: string }> {
  const memory = residentMemory(target.pid)
  const audience = await openAudience(target)
  const perWatcher = ((residentMemory(target.pid) - memory) * 1024) / watchers
  const times: number[] = []
  await Promise.all([send(target, 0), audience.told(1)])
  const [cpu, before] = [readCpu(target.pid), audience.events()]
  for (let index = 1; index <= changes; index += 1) {
    const began = performance.now()
    await Promise.all([send(target, index), audience.told(index + 1)])
    times.push(performance.now() - began)
  }
  const burst = performance.now()
  const sent = Array.from({ length: changes }, (_none, index) => send(target, changes + 1 + index))
  await Promise.all([...sent, audience.told(2 * changes + 1)])
  const burstMs = performance.now() - burst
  const delivered = audience.events() - before
  const row = {
    what: `${what}, ${watchers} watchers`,
    'change to last p50 ms': round(percentile(times, 0.5)),
    'p99 ms': round(percentile(times, 0.99)),
    [`${changes} at once, ms`]: round(burstMs, 0),
    'CPU us per event': round(((readCpu(target.pid) - cpu) * 1000) / delivered),
    events: delivered,
    'KiB per watcher': round(perWatcher),
  }
  audience.close()
  return { row, frame: audience.frame() }
}
