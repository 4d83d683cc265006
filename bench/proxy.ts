// The proxies beside a direct call, a bare pipe and other gateways: one mock vendor, the same load, one after another.
import { readdirSync } from 'node:fs'
import { type Gateway, startLiteLlm, startOurs, startPipe, startPortkey, startUpstream } from './gateways.ts'
import { generateLoad, type LoadResult } from './load.ts'
import { type Row, readCpu, report, residentMemory, round } from './measure.ts'
import { abandonStreams, generateStreams } from './streams.ts'

/** `BENCH_SHARE=0.01` for a look that takes seconds. */
const share = Number(process.env.BENCH_SHARE ?? 1)
const levels = (process.env.BENCH_CALLERS ?? '1,16,64,256').split(',').map(Number)
const count = (full: number) => Math.max(20, Math.round(full * share))
/** `BENCH_PARTS=streams` for the streams alone; also: rates, endurance, peers, and tool for the rates with a tool call alone. */
const parts = (process.env.BENCH_PARTS ?? 'rates,streams,endurance,peers').split(',')

const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

function makeBody(model: string, more: object = {}): string {
  const content = 'Say something short about proxies, please, and say it in a friendly way.'
  return JSON.stringify({ model, max_tokens: 256, messages: [{ role: 'user', content }], ...more })
}

async function load(gateway: Gateway, concurrency: number, total: number, model = 'bench'): Promise<LoadResult> {
  const { url, path, headers } = gateway
  const body = makeBody(gateway.model(model))
  const request = () => ({ method: 'POST' as const, path, headers, body })
  return generateLoad({ url, concurrency, total, request, expect: 200 })
}

async function measureRates(
  gateway: Gateway,
  what: string,
  options: { total: number; model?: string },
): Promise<Row[]> {
  const rows: Row[] = []
  // What is measured is a gateway that runs, not one that starts.
  await load(gateway, 16, Math.round(options.total / 4), options.model)
  for (const concurrency of levels) {
    const total = Math.round(concurrency === 1 ? options.total / 4 : options.total)
    const before = readCpu(gateway.pid)
    const result = await load(gateway, concurrency, total, options.model)
    rows.push({
      what,
      callers: concurrency,
      'per second': result.perSecond,
      'p50 ms': result.p50,
      'p99 ms': result.p99,
      'CPU ms': round((readCpu(gateway.pid) - before) / total, 3),
      errors: result.errors,
      MiB: round(residentMemory(gateway.pid), 0),
    })
  }
  return rows
}

/** `pauseMs` between two chunks; 0: as fast as they are read. */
type StreamsOptions = { concurrency: number; total: number; pauseMs: number }

async function measureStreams(gateway: Gateway, { concurrency, total, pauseMs }: StreamsOptions): Promise<Row> {
  const { url, path, headers, name } = gateway
  const body = makeBody(gateway.model(`bench-200-${pauseMs}`), { stream: true })
  await generateStreams({ url, path, headers, body, concurrency, total: Math.ceil(total / 4) })
  const before = readCpu(gateway.pid)
  const result = await generateStreams({ url, path, headers, body, concurrency, total })
  return {
    what: `streams of 200 chunks ${pauseMs === 0 ? 'at full speed' : `${pauseMs} ms apart`}, ${name}`,
    callers: concurrency,
    'first p50 ms': result.firstP50,
    'first p99 ms': result.firstP99,
    'chunks per second': result.chunksPerSecond,
    'CPU ms': round((readCpu(gateway.pid) - before) / total, 2),
    errors: result.errors,
    MiB: round(residentMemory(gateway.pid), 0),
  }
}

/** In turn, so that all see the same machine. */
async function compareStreams(gateways: Gateway[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const [pauseMs, total] of [
    [5, 160],
    [0, 1600],
  ] as const) {
    for (let round = 0; round < 3; round += 1) {
      for (const gateway of gateways)
        rows.push(await measureStreams(gateway, { concurrency: 16, total: count(total), pauseMs }))
    }
  }
  return rows
}

/** Descriptors and memory early and late: what is lost on the way would show. */
async function measureEndurance(gateway: Gateway): Promise<Row[]> {
  const { url, path, headers } = gateway
  const body = makeBody(gateway.model('bench-200-5'), { stream: true })
  const rows: Row[] = []
  const look = (what: string) =>
    rows.push({ what, descriptors: countDescriptors(gateway.pid), MiB: round(residentMemory(gateway.pid), 0) })
  await load(gateway, 64, count(2000))
  await abandonStreams({ url, path, headers, body, concurrency: 64, total: count(200) })
  look('svc after 2,000 requests')
  await load(gateway, 64, count(200_000))
  await abandonStreams({ url, path, headers, body, concurrency: 64, total: count(20_000) })
  await new Promise((resolve) => setTimeout(resolve, 2000))
  look('svc after 200,000 requests and 20,000 abandoned streams')
  return rows
}

async function measure(gateway: Gateway, total: number): Promise<Row[]> {
  const rows = await measureRates(gateway, gateway.name, { total: count(total) })
  rows.push(await measureStreams(gateway, { concurrency: 16, total: count(160), pauseMs: 5 }))
  return rows
}

async function measureOursRates({ passthrough, loop }: { passthrough: Gateway; loop: Gateway }): Promise<Row[]> {
  const rows = await measureRates(passthrough, passthrough.name, { total: count(40_000) })
  rows.push(...(await measureRates(loop, 'svc, loop without tool calls', { total: count(40_000) })))
  rows.push(...(await measureToolRates(loop)))
  return rows
}

function measureToolRates(loop: Gateway): Promise<Row[]> {
  return measureRates(loop, 'svc, loop with one tool call', { total: count(4000), model: 'bench-tool' })
}

async function measureOurs(upstream: string, pipe: Gateway): Promise<Row[]> {
  const ours = await startOurs(upstream)
  const { passthrough, loop } = ours
  const rows: Row[] = []
  if (parts.includes('rates')) rows.push(...(await measureOursRates(ours)))
  if (parts.includes('tool')) rows.push(...(await measureToolRates(loop)))
  if (parts.includes('streams')) {
    rows.push(...(await compareStreams([pipe, passthrough, loop])))
    rows.push(await measureStreams(passthrough, { concurrency: 1000, total: count(2000), pauseMs: 5 }))
  }
  if (parts.includes('endurance')) rows.push(...(await measureEndurance(passthrough)))
  await passthrough.stop()
  return rows
}

async function measurePeers(upstream: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const [start, total] of [
    [startPortkey, 8000],
    [startLiteLlm, 800],
  ] as const) {
    const peer = await start(upstream)
    if ('skipped' in peer) {
      rows.push({ what: `${peer.name}: ${peer.skipped}` })
      continue
    }
    rows.push(...(await measure(peer, total)))
    await peer.stop()
  }
  return rows
}

export async function run(): Promise<void> {
  const direct = await startUpstream()
  const pipe = await startPipe(direct.url)
  const rows: Row[] = []
  if (parts.includes('rates')) rows.push(...(await measure(direct, 40_000)), ...(await measure(pipe, 40_000)))
  rows.push(...(await measureOurs(direct.url, pipe)))
  await pipe.stop()
  if (parts.includes('peers')) rows.push(...(await measurePeers(direct.url)))
  await direct.stop()
  report('proxy', rows)
}
