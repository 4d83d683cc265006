// Connections of programs through their gate beside direct ones, in turns: how many, how soon, how fast, what is refused, and what the
// gate, the forwarder in the sandbox and the start of an attempt with one cost.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { gatePort } from '../src/contract/values/proxy-variables.ts'
import { createNetworkGates } from '../src/egress/network/gates.ts'
import { probeBubblewrap } from '../src/runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../src/runtime/local/sandbox/programs.ts'
import { withForwarder } from '../src/runtime/network/forwarder.ts'
import { findProcesses } from '../test/contracts/embedded-bench.ts'
import { findPort } from '../test/fixtures/free-port.ts'
import { startFloor } from './floor.ts'
import { percentile, type Row, readCpu, readPss, report, residentMemory, round } from './measure.ts'
import { measurePackages } from './network-packages.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
/** Connections, at once and of a round. */
const atOnce = Number(process.env.BENCH_AT_ONCE ?? 64)
const total = Number(process.env.BENCH_CONNECTIONS ?? 5000)
const refusals = Number(process.env.BENCH_REFUSED ?? 20_000)
const downloadBytes = Number(process.env.BENCH_BYTES ?? 2 ** 30)
/** Of a download that is no faster than a link of 1 Gbit/s; it is a quarter as long. */
const linkSpeed = 125_000_000
const starts = 30

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** How a connection comes to the server, and the processes that are on its way. */
type Way = { name: string; to: { port: number } | { path: string }; isProxied: boolean }

type Stand = {
  ways: Way[]
  gate: ChildProcess
  pids: { gate: number; forwarder: number }
  stop(): void
}

/** What a TLS client says first to the host. */
async function captureHello(host: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = once(server, 'connection')
  const { port } = server.address() as { port: number }
  const client = connectTls({ port, host: '127.0.0.1', servername: host })
  client.on('error', () => undefined)
  const [peer] = (await connected) as [Socket]
  const [first] = (await once(peer, 'data')) as [Buffer]
  client.destroy()
  peer.destroy()
  server.close()
  return first
}

/** As in a sandbox, but with a port of this machine. */
async function startForwarder(socket: string) {
  const port = await findPort()
  const [file = '', ...args] = withForwarder(['/bin/cat'], { nodePath: process.execPath, ports: { [port]: socket } })
  const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'inherit'] })
  while (!readFileSync(`/proc/${child.pid}/cmdline`, 'latin1').startsWith('/bin/cat')) await pause(5)
  const pid = findProcesses(JSON.stringify({ [port]: socket }))[0] ?? 0
  const stop = () => {
    child.kill()
    process.kill(pid)
  }
  return { port, pid, stop }
}

async function openStand(): Promise<Stand> {
  const upstream = await startFloor('network-upstream.ts', String(downloadBytes), String(linkSpeed))
  const gate = await startFloor('network-gate.ts', upstream.url)
  const forwarder = await startForwarder(gate.url)
  return {
    ways: [
      { name: 'direct', to: { port: Number(new URL(upstream.url).port) }, isProxied: false },
      { name: 'gate', to: { path: gate.url }, isProxied: true },
      { name: 'forwarder and gate', to: { port: forwarder.port }, isProxied: true },
    ],
    gate: gate.child,
    pids: { gate: gate.child.pid ?? 0, forwarder: forwarder.pid },
    stop() {
      forwarder.stop()
      gate.child.disconnect()
      upstream.child.disconnect()
    },
  }
}

/** Calls `take` with what comes from the server; ends with the connection, or when `take` says so. */
function exchange(way: Way, { host, hello }: Target, take: (data: Buffer) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...way.to, noDelay: true })
    let isOpen = !way.isProxied
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.once('connect', () =>
      socket.write(isOpen ? hello : `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`),
    )
    socket.on('data', (data) => {
      if (isOpen) return void (take(data) && socket.destroy())
      if (data.toString('latin1', 9, 12) !== '200') return void socket.destroy(new Error(data.toString('latin1')))
      isOpen = true
      socket.write(hello)
    })
  })
}

type Target = { host: string; hello: Buffer }

async function targetOf(host: string): Promise<Target> {
  return { host, hello: await captureHello(host) }
}

/** Milliseconds until the first word of the server. */
async function timeConnection(way: Way, target: Target): Promise<number> {
  const began = performance.now()
  let took = 0
  await exchange(way, target, () => {
    took = performance.now() - began
    return true
  })
  if (took === 0) throw new Error(`a connection by way of ${way.name} was closed`)
  return took
}

async function runLanes(lanes: number, amount: number, work: () => Promise<number>): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const lane = async () => {
    while (next++ < amount) times.push(await work())
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return times
}

/** `client`: of this process, which is all clients. */
type Cpu = { gate: number; forwarder: number; client: number }

async function measureCpu({ pids }: Stand, work: () => Promise<unknown>): Promise<Cpu & { seconds: number }> {
  const read = (): Cpu => ({
    gate: readCpu(pids.gate),
    forwarder: readCpu(pids.forwarder),
    client: readCpu(process.pid),
  })
  const before = read()
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  const after = read()
  const used = (name: keyof Cpu) => after[name] - before[name]
  return { gate: used('gate'), forwarder: used('forwarder'), client: used('client'), seconds }
}

const median = (samples: number[]) => percentile(samples, 0.5)

/** Each way in each round, so that all see the same machine. */
async function inTurns<Sample>(ways: Way[], take: (way: Way) => Promise<Sample>): Promise<Map<Way, Sample[]>> {
  const samples = new Map<Way, Sample[]>(ways.map((way) => [way, []]))
  for (let at = 0; at < rounds; at += 1) for (const way of ways) samples.get(way)?.push(await take(way))
  return samples
}

async function measureConnections(stand: Stand): Promise<Row[]> {
  const target = await targetOf('echo.bench.example')
  for (const way of stand.ways) await runLanes(16, total / 5, () => timeConnection(way, target))
  const samples = await inTurns(stand.ways, async (way) => {
    const single = await runLanes(1, total / 10, () => timeConnection(way, target))
    const cpu = await measureCpu(stand, () => runLanes(atOnce, total, () => timeConnection(way, target)))
    return { single, ...cpu }
  })
  const [direct] = [...samples.values()].map((all) => median(all.flatMap(({ single }) => single)))
  return [...samples].map(([way, all]) => {
    const single = all.flatMap((each) => each.single)
    return {
      way: way.name,
      'one at a time, p50 ms': round(median(single), 2),
      'p99 ms': round(percentile(single, 0.99), 2),
      'added, p50 ms': round(median(single) - (direct ?? 0), 2),
      [`a second, ${atOnce} at once`]: round(median(all.map(({ seconds }) => total / seconds)), 0),
      'CPU of the gate, ms each': round(median(all.map(({ gate }) => gate / total)), 3),
      'CPU of the forwarder, ms each': round(median(all.map(({ forwarder }) => forwarder / total)), 3),
    }
  })
}

async function download(way: Way, target: Target, expected: number): Promise<void> {
  let got = 0
  await exchange(way, target, (data) => {
    got += data.length
    return false
  })
  if (got !== expected) throw new Error(`${got} of ${expected} bytes by way of ${way.name}`)
}

async function measureDownloads(stand: Stand, host: string, bytes: number): Promise<Row[]> {
  const target = await targetOf(host)
  const samples = await inTurns(stand.ways, (way) => measureCpu(stand, () => download(way, target, bytes)))
  const speed = (all: { seconds: number }[]) => median(all.map(({ seconds }) => bytes / seconds / 1e6))
  const [direct = 1] = [...samples.values()].map(speed)
  return [...samples].map(([way, all]) => ({
    what: host,
    way: way.name,
    'MB/s': round(speed(all), 0),
    'of direct, %': round((speed(all) / direct) * 100, 0),
    'CPU of the gate, ms a GiB': round(median(all.map(({ gate }) => (gate * 2 ** 30) / bytes)), 0),
    'CPU of the forwarder, ms a GiB': round(median(all.map(({ forwarder }) => (forwarder * 2 ** 30) / bytes)), 0),
  }))
}

/** Until the connection is closed. */
function tryRefused(way: Way): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const socket = connect({ ...way.to, noDelay: true })
    socket.on('error', reject)
    socket.once('connect', () => socket.write('CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n'))
    socket.resume()
    socket.once('close', () => resolve(performance.now() - began))
  })
}

type GateState = { reports: number; refused: number; delayP99: number }

/** With all that has been counted so far: it is reported once a second. */
async function readState({ gate }: Stand): Promise<GateState> {
  await pause(1500)
  const answer = once(gate, 'message')
  gate.send('state')
  return (await answer)[0] as GateState
}

/** What may be reached is reached meanwhile, one connection after another. */
async function measureRefusals(stand: Stand, way: Way): Promise<Row> {
  const target = await targetOf('echo.bench.example')
  await runLanes(16, refusals / 10, () => tryRefused(way))
  const before = await readState(stand)
  let isOver = false
  const beside: number[] = []
  const reach = async () => {
    while (!isOver) beside.push(await timeConnection(way, target))
  }
  const reaching = reach()
  const cpu = await measureCpu(stand, () => runLanes(atOnce, refusals, () => tryRefused(way)))
  isOver = true
  await reaching
  const after = await readState(stand)
  return {
    way: way.name,
    attempts: refusals,
    counted: after.refused - before.refused,
    'a second': round(refusals / cpu.seconds, 0),
    'CPU of the gate, ms each': round(cpu.gate / refusals, 3),
    'CPU of the forwarder, ms each': round(cpu.forwarder / refusals, 3),
    'CPU of the client, ms each': round(cpu.client / refusals, 3),
    'lines reported': after.reports,
    'connection beside them, p50 ms': round(median(beside), 1),
    'p99 ms': round(percentile(beside, 0.99), 1),
    'event loop of the gate, p99 ms': round(after.delayP99, 0),
  }
}

const processRow = (what: string, pid: number): Row => ({
  what,
  'RSS, MiB': round(residentMemory(pid), 0),
  'PSS, MiB': round(readPss(pid) / 1024, 0),
})

/** From the start of a sandbox to the end of `true` in it. */
async function measureStarts(): Promise<Row[]> {
  const probe = await probeBubblewrap()
  if (!probe.available) return [{ start: probe.reason }]
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const programs = createPrograms({ nodePath: process.execPath, bubblewrap: Promise.resolve(probe) })
  const gates = createNetworkGates({
    policy: { allowNetworks: [], deny: [] },
    limits: { connections: 100, bytes: 1e9 },
    report: () => undefined,
    limit: () => undefined,
    end: async () => undefined,
    ask: async () => 'pending',
  })
  const rules = { allow: [], onUnknown: 'refuse' as const, ports: [443] }
  const start = async (isGated: boolean) => {
    const began = performance.now()
    const key = { taskUid: 'bench', attempt: 1 }
    const gate = isGated ? await gates.open({ key, namespace: 'default', taskName: 'bench', rules }) : undefined
    const ports = gate && { ports: { [gatePort]: gate.socket } }
    const program = await programs.start({ argv: ['/bin/true'], folder, home: folder, env: {}, ...ports })
    for (const stream of [program.stdout, program.stderr]) stream.resume()
    const { code, startError } = await program.exited
    if (code !== 0) throw new Error(`the sandbox ended with ${code ?? startError}`)
    const took = performance.now() - began
    await gate?.close()
    return took
  }
  const [plain, gated]: [number[], number[]] = [[], []]
  for (let at = 0; at < starts; at += 1) {
    plain.push(await start(false))
    gated.push(await start(true))
  }
  rmSync(folder, { recursive: true })
  const rowOf = (name: string, times: number[]) => ({
    start: name,
    'p50 ms': round(median(times)),
    'p99 ms': round(percentile(times, 0.99)),
    'added, p50 ms': round(median(times) - median(plain)),
  })
  return [rowOf('without a gate', plain), rowOf('with gate and forwarder', gated)]
}

const pathParts: Record<string, (stand: Stand) => Promise<Row[]>> = {
  connections: measureConnections,
  downloads: async (stand) => [
    ...(await measureDownloads(stand, 'download.bench.example', downloadBytes)),
    ...(await measureDownloads(stand, 'link.bench.example', downloadBytes / 4)),
  ],
  refusals: async (stand) => {
    const rows: Row[] = []
    for (const way of stand.ways.filter(({ isProxied }) => isProxied)) rows.push(await measureRefusals(stand, way))
    return rows
  },
  starts: measureStarts,
}

/** `BENCH_PART=refusals,packages`: only these; absent: all. */
export async function run(): Promise<void> {
  const { BENCH_PART: wanted } = process.env
  const isWanted = (part: string) => wanted === undefined || wanted.split(',').includes(part)
  const parts = Object.entries(pathParts).filter(([part]) => isWanted(part))
  if (parts.length > 0) await measurePaths(parts)
  if (isWanted('packages')) report('network, package managers', await measurePackages(startForwarder))
}

async function measurePaths(parts: [string, (stand: Stand) => Promise<Row[]>][]): Promise<void> {
  const stand = await openStand()
  try {
    const { pids } = stand
    const idle = [processRow('gate, idle', pids.gate), processRow('forwarder, idle', pids.forwarder)]
    for (const [part, measure] of parts) report(`network, ${part}`, await measure(stand))
    const used = [processRow('gate, after all', pids.gate), processRow('forwarder, after all', pids.forwarder)]
    report('network, memory', [...idle, ...used])
  } finally {
    stand.stop()
  }
}
