// ai tasks of one model call that share processes beside the same with a process each: closed loops, and tasks that wait for a model.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { listFamily, watchFamilyCpu } from './family-cpu.ts'
import { startFloor } from './floor.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'
import { createTasks } from './tasks.ts'

const readNumbers = (text: string) => text.split(',').filter(Boolean).map(Number)
/** Empty: none. */
const loops = readNumbers(process.env.BENCH_AT_ONCE ?? '1,8,64')
const waits = readNumbers(process.env.BENCH_WAITING ?? '100,1000')
const total = Number(process.env.BENCH_TASKS ?? 500)
/** `BENCH_MODES=shared,process` */
const modes = (process.env.BENCH_MODES ?? 'shared,process').split(',')

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
    for (const mode of modes) await measureMode(mode)
  } finally {
    model.child.disconnect()
  }
  report('density', rows)
}

/** One more than those that wait. */
const mostOf = (mode: string) => (mode === 'shared' ? Math.max(1001, ...waits) : manageable.waiting + 1)

async function open(mode: string, url: string): Promise<RunningService> {
  const service = await startService(['--isolation', mode, '--max-concurrent-tasks', String(mostOf(mode))])
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

type Lanes = { atOnce: number; amount: number; prefix: string }

async function measureLoop(service: RunningService, mode: string, atOnce: number): Promise<Row> {
  const ends = await watchEnds(service)
  const amount = mode === 'shared' ? total : Math.min(total, manageable.tasks)
  // The first start of all, and what V8 compiles once.
  await runLanes(service, ends, { atOnce, amount: Math.max(atOnce, Math.round(amount / 5)), prefix: 'warm' })
  const family = watchFamilyCpu(service.pid)
  const began = performance.now()
  const times = await runLanes(service, ends, { atOnce, amount, prefix: 'timed' })
  const seconds = (performance.now() - began) / 1000
  const cpu = family.stop()
  const row = {
    what: `${mode}: ${atOnce} at once`,
    tasks: amount,
    'tasks/s': round(amount / seconds),
    'p50 ms': round(percentile(times, 0.5), 0),
    'p99 ms': round(percentile(times, 0.99), 0),
    'CPU ms per task': round(cpu / amount),
    ...measureFamily(service),
  }
  ends.close()
  return row
}

async function measureWaiting(
  service: RunningService,
  mode: string,
  { asked, url }: { asked: number; url: string },
): Promise<Row> {
  const amount = Math.min(asked, mostOf(mode) - 1)
  const began = performance.now()
  await createTasks(service, amount, specOf('idle'), 'waiting')
  while (Number(await (await fetch(`${url}/waiting`)).text()) < amount) await pause(20)
  const seconds = (performance.now() - began) / 1000
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

/** Each page of memory is counted once, however many processes have it (proc(5): Pss). */
function readPss(pid: string): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function measureFamily({ pid }: RunningService): Row {
  const family = listFamily(String(pid))
  const kibibytes = family.reduce((sum, id) => sum + readPss(id), 0)
  return {
    processes: family.length,
    'PSS MiB': round(kibibytes / 1024, 0),
    'of the service': round(readPss(String(pid)) / 1024, 0),
  }
}
