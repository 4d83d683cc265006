// Rates and latencies of the REST API beside the floors, and pages out of 100,000 stored tasks.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { generateLoad, type LoadRequest, type LoadResult } from './load.ts'
import { type Row, report } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const levels = [1, 16, 64]
const stored = Number(process.env.BENCH_STORED ?? 100_000)

type Target = { url: string; path: string; headers: Record<string, string>; body: (name: string) => unknown }

export async function run(): Promise<void> {
  const rows: Row[] = []
  const floor = await startFloor()
  const service = await startService()
  const targets = { floor: floorTarget(floor.url), svc: serviceTarget(service) }
  for (const concurrency of levels) {
    for (const [name, target] of Object.entries(targets)) rows.push(await benchCreate(name, target, concurrency))
  }
  for (const concurrency of levels) {
    for (const [name, target] of Object.entries(targets)) rows.push(...(await benchReads(name, target, concurrency)))
  }
  floor.child.disconnect()
  rows.push(...(await benchLargeStore(service)))
  await service.stop()
  report('api', rows)
}

async function benchCreate(name: string, target: Target, concurrency: number): Promise<Row> {
  const total = concurrency === 1 ? 1000 : 6000
  const request = (index: number): LoadRequest => ({
    method: 'POST',
    path: target.path,
    headers: target.headers,
    body: JSON.stringify(target.body(`create-${concurrency}-${index}`)),
  })
  return toRow(
    `create, ${name}`,
    concurrency,
    await generateLoad({ url: target.url, concurrency, total, request, expect: 201 }),
  )
}

async function benchReads(name: string, target: Target, concurrency: number): Promise<Row[]> {
  const read = (path: string, total: number) =>
    generateLoad({
      url: target.url,
      concurrency,
      total,
      request: () => ({ method: 'GET', path, headers: target.headers }),
      expect: 200,
    })
  return [
    toRow(`get, ${name}`, concurrency, await read(`${target.path}/create-1-1`, 5000)),
    toRow(`list page of 100, ${name}`, concurrency, await read(target.path, 1000)),
  ]
}

async function benchLargeStore(service: RunningService): Promise<Row[]> {
  const target = serviceTarget(service)
  const request = (index: number): LoadRequest => ({
    method: 'POST',
    path: target.path,
    headers: target.headers,
    body: JSON.stringify({ ...(target.body(`fill-${index}`) as object), labels: { batch: `b${index % 1000}` } }),
  })
  await generateLoad({ url: service.url, concurrency: 64, total: stored, request, expect: 201 })
  // The controllers look at each new task once; what is measured is the store at rest.
  await waitUntilSeen(service)
  const cursor = await findDeepCursor(service)
  const paths = {
    'first page of 100': target.path,
    'deep page of 100': `${target.path}?continue=${encodeURIComponent(cursor)}`,
    'filtered by label (about 100 match)': `${target.path}?labelSelector=batch%3Db7`,
    'filtered by phase': `${target.path}?phase=Scheduled`,
    overview: '/api/v1/overview',
  }
  const rows: Row[] = []
  for (const [what, path] of Object.entries(paths)) {
    for (const concurrency of [1, 16]) {
      const page = () => ({ method: 'GET' as const, path, headers: target.headers })
      const result = await generateLoad({ url: service.url, concurrency, total: 800, request: page, expect: 200 })
      rows.push(toRow(`${what} of ${stored} tasks`, concurrency, result))
    }
  }
  return rows
}

async function waitUntilSeen(service: RunningService): Promise<void> {
  for (;;) {
    const answer = await fetch(`${service.url}/api/v1/tasks?phase=Pending&limit=1`, {
      headers: { authorization: `Bearer ${service.token}` },
    })
    if (((await answer.json()) as { items: unknown[] }).items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

async function findDeepCursor(service: RunningService): Promise<string> {
  let cursor = ''
  for (let page = 0; page < stored / 1000; page += 1) {
    const query = cursor === '' ? '' : `&continue=${encodeURIComponent(cursor)}`
    const answer = await fetch(`${service.url}/api/v1/tasks?limit=500${query}`, {
      headers: { authorization: `Bearer ${service.token}` },
    })
    const list = (await answer.json()) as { metadata: { continue?: string } }
    cursor = list.metadata.continue ?? cursor
  }
  return cursor
}

function toRow(what: string, concurrency: number, result: LoadResult): Row {
  return {
    what,
    concurrency,
    'per second': result.perSecond,
    'p50 ms': result.p50,
    'p99 ms': result.p99,
    errors: result.errors,
  }
}

/** Tasks that are stored and scheduled but never run: what is measured is the store and the edge. */
function serviceTarget(service: RunningService): Target {
  return {
    url: service.url,
    path: '/api/v1/tasks',
    headers: { authorization: `Bearer ${service.token}` },
    body: (name) => ({
      metadata: { name },
      spec: { type: 'container', command: ['true'], schedule: '0 0 1 1 *', suspend: true },
    }),
  }
}

function floorTarget(url: string): Target {
  const spec = { type: 'container', command: ['true'], schedule: '0 0 1 1 *', suspend: true }
  return { url, path: '/objects', headers: {}, body: (name) => ({ name, metadata: { name }, spec }) }
}

function startFloor(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'floors', 'durable-insert.ts')], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return new Promise((resolve) =>
    child.once('message', (message) => resolve({ url: (message as { url: string }).url, child })),
  )
}
