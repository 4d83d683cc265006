// ai tasks of one model call that share processes beside the same with a process each, and beside a bare loop: closed loops, tasks
// that wait for a model, a model that takes its time, and kills while it does.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listFamily, watchFamilyCpu } from './family-cpu.ts'
import { startFloor } from './floor.ts'
import { percentile, type Row, readPss, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'
import { countPhase, createTasks, waitUntilFinished } from './tasks.ts'

const readNumbers = (text: string) => text.split(',').filter(Boolean).map(Number)
/** Empty: none. */
const loops = readNumbers(process.env.BENCH_AT_ONCE ?? '1,8,64')
const waits = readNumbers(process.env.BENCH_WAITING ?? '100,1000')
const total = Number(process.env.BENCH_TASKS ?? 500)
/** `BENCH_MODES=shared,process` */
const modes = (process.env.BENCH_MODES ?? 'shared,process').split(',')

/** Tasks of a model that takes 30 s, and those of them that see a kill; 0: none. */
const slow = Number(process.env.BENCH_SLOW ?? 1000)
const killed = Number(process.env.BENCH_KILLED ?? 200)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Tasks that are followed and cancelled one by one beside those that wait. */
const singles = 20

/** What many tasks with a process each would take for ever. */
const manageable = { tasks: 48, waiting: 10 }

type Measure = (service: RunningService) => Promise<Row>

export async function run(): Promise<void> {
  const model = await startFloor('instant-model.ts')
  const rows: Row[] = []
  const measure = async (mode: string, take: Measure) => {
    const service = await open(mode, model.url)
    try {
      rows.push(await take(service))
    } finally {
      await service.stop()
    }
  }
  const measureMode = async (mode: string) => {
    for (const atOnce of loops) await measure(mode, (service) => measureLoop(service, mode, atOnce))
    for (const asked of waits)
      await measure(mode, (service) => measureWaiting(service, mode, { asked, url: model.url }))
  }
  try {
    for (const atOnce of loops) rows.push(await measureFloor(model.url, atOnce))
    for (const mode of modes) await measureMode(mode)
    const isShared = modes.includes('shared')
    if (isShared && slow > 0) await measure('shared', measureSlow)
    if (isShared && killed > 0)
      rows.push(await measureKill(model.url, 'a runner'), await measureKill(model.url, 'the service'))
  } finally {
    model.child.disconnect()
  }
  report('density', rows)
}

/** One more than those that wait. */
const mostOf = (mode: string) => (mode === 'shared' ? Math.max(1001, slow, ...waits) : manageable.waiting + 1)

const start = (mode: string, dataDir?: string) =>
  startService(['--isolation', mode, '--max-concurrent-tasks', String(mostOf(mode))], dataDir)

async function open(mode: string, url: string, dataDir?: string): Promise<RunningService> {
  const service = await start(mode, dataDir)
  const spec = { type: 'llmo', baseURL: `${url}/v1`, defaultModel: 'instant' }
  await post(service, '/api/v1/providers', { name: 'instant', spec })
  return service
}

const specOf = (model: string) => ({
  type: 'ai',
  ai: { providerRef: { name: 'instant' }, model, prompt: 'how is it?' },
})

type Ends = { next(name: string): Promise<string>; close(): void }

type Watched = { object?: { metadata: { name: string }; status?: { phase?: string } } }

function readFrame(frame: string): { name: string; phase: string } {
  const [, data = '{}'] = /^data: (.*)$/m.exec(frame) ?? []
  const { object } = JSON.parse(data) as Watched
  return { name: object?.metadata.name ?? '', phase: object?.status?.phase ?? '' }
}

/** Hears of every end over one watch. */
async function watchEnds({ url, token }: RunningService): Promise<Ends> {
  const waiting = new Map<string, (phase: string) => void>()
  const request = get(`${url}/api/v1/watch?kinds=Task`, { headers: { authorization: `Bearer ${token}` }, agent: false })
  let rest = ''
  const take = (text: string) => {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const { name, phase } of frames.map(readFrame)) {
      if (['Succeeded', 'Failed', 'Cancelled'].includes(phase)) waiting.get(name)?.(phase)
    }
  }
  await new Promise<void>((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      response
        .setEncoding('utf8')
        .on('data', take)
        .on('error', () => undefined)
      resolve()
    })
  })
  return {
    next: (name) => new Promise((resolve) => void waiting.set(name, resolve)),
    close: () => void request.destroy(),
  }
}

/** Each lane makes a task when its last one has ended. */
async function runLanes(service: RunningService, ends: Ends, { atOnce, amount, prefix }: Lanes): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const lane = async () => {
    while (next < amount) {
      const name = `${prefix}-${next++}`
      const began = performance.now()
      const end = ends.next(name)
      await createTask(service, name)
      const phase = await end
      if (phase !== 'Succeeded') throw new Error(`${name} is ${phase}`)
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return times
}

function createTask(service: RunningService, name: string, model = 'instant'): Promise<void> {
  return post(service, '/api/v1/tasks', { metadata: { name }, spec: specOf(model) })
}

async function post({ url, token }: RunningService, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.arrayBuffer()
}

/** The same loops through `bare-loop.ts`. */
async function measureFloor(model: string, atOnce: number): Promise<Row> {
  const { url, child } = await startFloor('bare-loop.ts', model)
  const headers = { 'content-type': 'application/json' }
  let next = 0
  const runAll = async (amount: number) => {
    const times: number[] = []
    const last = next + amount
    const lane = async () => {
      while (next < last) {
        const body = JSON.stringify({ name: `floor-${next++}`, prompt: 'how is it?' })
        const began = performance.now()
        await (await fetch(`${url}/tasks`, { method: 'POST', headers, body })).arrayBuffer()
        times.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    return times
  }
  await runAll(Math.max(atOnce, Math.round(total / 5)))
  const family = watchFamilyCpu(child.pid ?? 0)
  const began = performance.now()
  const times = await runAll(total)
  const seconds = (performance.now() - began) / 1000
  const row = { what: `floor: ${atOnce} at once`, ...describeLoop({ times, seconds, cpu: family.stop() }) }
  child.disconnect()
  return row
}

function describeLoop({ times, seconds, cpu }: { times: number[]; seconds: number; cpu: number }): Row {
  return {
    tasks: times.length,
    'tasks/s': round(times.length / seconds),
    'p50 ms': round(percentile(times, 0.5), 0),
    'p99 ms': round(percentile(times, 0.99), 0),
    'CPU ms per task': round(cpu / times.length),
  }
}

type Lanes = { atOnce: number; amount: number; prefix: string }

async function measureLoop(service: RunningService, mode: string, atOnce: number): Promise<Row> {
  const ends = await watchEnds(service)
  const amount = mode === 'shared' ? total : Math.min(total, manageable.tasks)
  // The first start of all, and what V8 compiles once.
  await runLanes(service, ends, { atOnce, amount: Math.max(atOnce, Math.round(amount / 5)), prefix: 'warm' })
  await readLoopLag(service)
  const family = watchFamilyCpu(service.pid)
  const began = performance.now()
  const times = await runLanes(service, ends, { atOnce, amount, prefix: 'timed' })
  const seconds = (performance.now() - began) / 1000
  const row = {
    what: `${mode}: ${atOnce} at once`,
    ...describeLoop({ times, seconds, cpu: family.stop() }),
    'loop lag p99 ms': await readLoopLag(service),
    ...measureFamily(service),
  }
  ends.close()
  return row
}

/** A timer of so many milliseconds is what the lag is measured by, and is in it. */
const lagTimerMs = 10

/** The 99th percentile since it was last read, in milliseconds, of the service's event loop. */
async function readLoopLag({ url, token }: RunningService): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const [, seconds = 'NaN'] = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await answer.text()) ?? []
  return round(Math.max(0, Number(seconds) * 1000 - lagTimerMs))
}

async function readCount(url: string, what: 'waiting' | 'calls'): Promise<number> {
  return Number(await (await fetch(`${url}/${what}`)).text())
}

async function startWaiting(service: RunningService, { amount, model, url }: Waits): Promise<number> {
  const began = performance.now()
  await createTasks(service, amount, specOf(model), 'waiting')
  while ((await readCount(url, 'waiting')) < amount) await pause(20)
  return (performance.now() - began) / 1000
}

type Waits = { amount: number; model: string; url: string }

/** All are sent at once; their model takes 30 s each. */
async function measureSlow(service: RunningService): Promise<Row> {
  const family = watchFamilyCpu(service.pid)
  const began = performance.now()
  await createTasks(service, slow, specOf('slow'), 'slow')
  await waitUntilFinished(service, slow)
  const seconds = (performance.now() - began) / 1000
  const cpu = family.stop()
  return {
    what: `shared: model of 30 s`,
    tasks: slow,
    'until all end, s': round(seconds),
    'CPU ms per task': round(cpu / slow),
  }
}

/** What runs attempts: the last process of its sandbox. */
function findRunner({ pid }: RunningService): number {
  const command = (id: string) => readFileSync(`/proc/${id}/cmdline`, 'utf8')
  const found = listFamily(String(pid)).filter(
    (id) => /^[^\0]*node\0/.test(command(id)) && command(id).includes('worker'),
  )
  return Number(found.at(-1))
}

/** Killed while all wait for a model of 30 s: how long until all have their answer, and how many calls are paid twice. */
async function measureKill(url: string, whom: 'a runner' | 'the service'): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-data-'))
  let service = await open('shared', url, folder)
  const before = await readCount(url, 'calls')
  try {
    await startWaiting(service, { amount: killed, model: 'slow', url })
    const began = performance.now()
    process.kill(whom === 'a runner' ? findRunner(service) : service.pid, 'SIGKILL')
    if (whom === 'the service') {
      await service.stop()
      service = await start('shared', folder)
    }
    await waitUntilFinished(service, killed)
    const failed = await countPhase(service, 'Failed')
    if (failed > 0) throw new Error(`${failed} have failed`)
    return {
      what: `shared: kill -9 of ${whom}`,
      tasks: killed,
      'until all end, s': round((performance.now() - began) / 1000),
      'calls made again': (await readCount(url, 'calls')) - before - killed,
    }
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureWaiting(
  service: RunningService,
  mode: string,
  { asked, url }: { asked: number; url: string },
): Promise<Row> {
  const amount = Math.min(asked, mostOf(mode) - 1)
  const seconds = await startWaiting(service, { amount, model: 'idle', url })
  await pause(2000)
  const family = watchFamilyCpu(service.pid)
  await pause(5000)
  const row = {
    what: `${mode}: ${amount} waiting`,
    tasks: amount,
    'until all wait, s': round(seconds),
    'CPU ms/s while they wait': round(family.stop() / 5),
    ...measureFamily(service),
    ...(await measureOne(service)),
  }
  return row
}

/** How soon one more task says its first word to whoever follows it, and how soon it is cancelled. */
async function measureOne(service: RunningService): Promise<Row> {
  const ends = await watchEnds(service)
  const [words, cancels]: [number[], number[]] = [[], []]
  for (let at = 0; at < singles; at += 1) {
    const name = `single-${at}`
    const ended = ends.next(name)
    const began = performance.now()
    await createTask(service, name, 'idle')
    await waitForWord(service, name)
    words.push(performance.now() - began)
    const told = performance.now()
    await post(service, `/api/v1/tasks/${name}/cancel`, {})
    const phase = await ended
    if (phase !== 'Cancelled') throw new Error(`${name} is ${phase}`)
    cancels.push(performance.now() - told)
  }
  ends.close()
  return {
    'first word p50 ms': round(percentile(words, 0.5), 0),
    'first word p99 ms': round(percentile(words, 0.99), 0),
    'cancel p50 ms': round(percentile(cancels, 0.5), 0),
    'cancel p99 ms': round(percentile(cancels, 0.99), 0),
  }
}

/** Follows the log until the model's own word stands in it. */
async function waitForWord({ url, token }: RunningService, name: string): Promise<void> {
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  const answer = await fetch(`${url}/api/v1/tasks/${name}/logs?follow=true`, { headers, signal: stop.signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes('Hm')) break
  }
  stop.abort()
}

function measureFamily({ pid }: RunningService): Row {
  const family = listFamily(String(pid))
  const kibibytes = family.reduce((sum, id) => sum + readPss(id), 0)
  return {
    processes: family.length,
    'PSS MiB': round(kibibytes / 1024, 0),
    'of the service': round(readPss(pid) / 1024, 0),
  }
}
