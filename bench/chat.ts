// Chat turns with an instant model beside the floor (the model asked directly), the way to the first word, idle streams, a large session.
import { rmSync } from 'node:fs'
import { Pool } from 'undici'
import { startFloor } from './floor.ts'
import { generateLoad, type LoadResult } from './load.ts'
import { percentile, type Row, report, residentMemory, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'
import { fillDataFolder } from './stored-sessions.ts'

/** `BENCH_PARTS=idle` for the memory of idle streams alone; also: turns, stored. */
const parts = (process.env.BENCH_PARTS ?? 'idle,turns,stored').split(',')
const turns = Number(process.env.BENCH_TURNS ?? 3000)
const streams = Number(process.env.BENCH_STREAMS ?? 1000)
const sessions = Number(process.env.BENCH_SESSIONS ?? 10_000)
const firstWords = Math.min(turns, 300)

export async function run(): Promise<void> {
  const model = await startFloor('instant-model.ts')
  const rows: Row[] = []
  if (parts.includes('idle')) rows.push(await measureFreshStreams(model.url))
  if (parts.includes('turns')) rows.push(...(await measureTurns(model.url)))
  if (parts.includes('stored')) {
    for (const stored of [10, sessions]) rows.push(...(await benchStored(model.url, stored)))
  }
  model.child.disconnect()
  report('chat', rows)
}

async function measureTurns(model: string): Promise<Row[]> {
  const floor = await startFloor('chat-turn.ts', model)
  const service = await openService(model)
  const rows: Row[] = []
  for (const concurrency of [1, 10]) {
    rows.push(toRow('the model asked directly', concurrency, await askModel(model, concurrency)))
    rows.push(
      toRow('floor: bare route, model, one durable insert', concurrency, await askFloor(floor.url, concurrency)),
    )
    for (const accept of ['application/json', 'text/event-stream']) {
      rows.push(toRow(`turn, ${accept}`, concurrency, await askChat(service, { concurrency, accept })))
    }
  }
  rows.push(...(await measureFirstWord(service, model)))
  rows.push(await measureStreams(service, 'process after turns with idle streams, MiB'))
  await service.stop()
  floor.child.disconnect()
  return rows
}

async function measureFreshStreams(model: string): Promise<Row> {
  const service = await openService(model)
  const row = await measureStreams(service, 'fresh process with idle streams, MiB')
  await service.stop()
  return row
}

async function openService(model: string, dataDir?: string): Promise<RunningService> {
  const service = await startService(['--chat-max-concurrent', String(streams + 100)], dataDir)
  await makeProvider(service, 'default', model, 'instant')
  await makeProvider(service, 'idle', model, 'idle')
  return service
}

function toRow(what: string, concurrency: number, result: LoadResult): Row {
  const { perSecond, p50, p99, errors } = result
  return { what, concurrency, 'per second': perSecond, 'p50 ms': p50, 'p99 ms': p99, errors }
}

const question = JSON.stringify({ model: 'instant', stream: true, messages: [{ role: 'user', content: 'how is it?' }] })

/** Some rounds before what counts: what is measured is a service that runs, not one that starts. */
async function warmUp(load: (total: number) => Promise<LoadResult>): Promise<LoadResult> {
  await load(Math.ceil(turns / 5))
  return load(turns)
}

function askFloor(url: string, concurrency: number): Promise<LoadResult> {
  const request = () => ({ method: 'POST' as const, path: '/turns', body: '{"message":"how is it?"}' })
  return warmUp((total) => generateLoad({ url, concurrency, total, request, expect: 200 }))
}

function askModel(url: string, concurrency: number): Promise<LoadResult> {
  const request = () => ({ method: 'POST' as const, path: '/v1/chat/completions', body: question })
  return warmUp((total) => generateLoad({ url, concurrency, total, request, expect: 200 }))
}

type Asking = { concurrency: number; accept: string; body?: object; total?: number }

function askChat(service: RunningService, { concurrency, accept, body = {}, total }: Asking): Promise<LoadResult> {
  const request = () => ({
    method: 'POST' as const,
    path: '/api/v1/chat',
    headers: { authorization: `Bearer ${service.token}`, accept },
    body: JSON.stringify({ message: 'how is it?', ...body }),
  })
  const load = (count: number) => generateLoad({ url: service.url, concurrency, total: count, request, expect: 200 })
  return total === undefined ? warmUp(load) : load(total)
}

/** From the question to the first word, in ms, one after another. */
async function timeFirstWords(url: string, request: Parameters<Pool['request']>[0], mark: string): Promise<number[]> {
  const pool = new Pool(url, { connections: 1 })
  const samples: number[] = []
  for (let index = 0; index < firstWords; index += 1) {
    const started = performance.now()
    const { body } = await pool.request(request)
    let isFirst = true
    for await (const part of body) {
      if (isFirst && String(part).includes(mark)) {
        samples.push(performance.now() - started)
        isFirst = false
      }
    }
  }
  await pool.close()
  return samples
}

async function measureFirstWord(service: RunningService, model: string): Promise<Row[]> {
  const json = { 'content-type': 'application/json' }
  const direct = { method: 'POST', path: '/v1/chat/completions', headers: json, body: question } as const
  const headers = { ...json, authorization: `Bearer ${service.token}` }
  const chat = {
    method: 'POST',
    path: '/api/v1/chat',
    headers,
    body: JSON.stringify({ message: 'how is it?' }),
  } as const
  const floor = await timeFirstWords(model, direct, 'All')
  const ours = await timeFirstWords(service.url, chat, 'All')
  const describe = (what: string, samples: number[]): Row => ({
    what,
    concurrency: 1,
    'p50 ms': round(percentile(samples, 0.5), 2),
    'p99 ms': round(percentile(samples, 0.99), 2),
  })
  return [describe('floor: first word of the model', floor), describe('first word of a turn', ours)]
}

/** Turns beside so many stored sessions, and in one of 500 KB. */
async function benchStored(model: string, stored: number): Promise<Row[]> {
  const dataDir = await fillDataFolder(stored)
  const service = await openService(model, dataDir)
  const asking = { concurrency: 1, accept: 'application/json' }
  const beside = await askChat(service, asking)
  const body = { sessionId: 'large' }
  await askChat(service, { ...asking, body, total: 20 })
  const within = await askChat(service, { ...asking, body, total: 100 })
  await service.stop()
  rmSync(dataDir, { recursive: true, force: true })
  return [
    toRow(`turn beside ${stored} stored sessions`, 1, beside),
    toRow(`turn in a session of 500 KB beside ${stored}`, 1, within),
  ]
}

/** Memory of streams that have begun and wait for the model. */
async function measureStreams(service: RunningService, what: string): Promise<Row> {
  const pool = new Pool(service.url, { connections: streams })
  const ending = new AbortController()
  const open = async () => {
    const { body } = await pool.request({
      method: 'POST',
      path: '/api/v1/chat',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${service.token}` },
      body: JSON.stringify({ message: 'wait', provider: 'idle' }),
      signal: ending.signal,
    })
    body.on('error', () => undefined)
    await new Promise<void>((resolve) => body.on('data', (part) => String(part).includes('Hm') && resolve()))
  }
  await Promise.all(Array.from({ length: streams }, open))
  const after = residentMemory(service.pid)
  ending.abort()
  await pool.destroy()
  return { what, concurrency: streams, value: round(after) }
}

async function makeProvider(service: RunningService, name: string, url: string, model: string): Promise<void> {
  const answer = await fetch(`${service.url}/api/v1/providers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, spec: { type: 'llmo', baseURL: `${url}/v1`, defaultModel: model } }),
  })
  if (answer.status !== 201) throw new Error(`the provider was not made: ${await answer.text()}`)
}
