// From asking for an agent to its first request to the model: as a task, beside the bare program with the same arguments.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { llmaCli } from '../src/agents/llma-cli.ts'
import { type Recorder, startRecorder } from '../test/fixtures/agents/recorder.ts'
import { percentile, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const rounds = Number(process.env.BENCH_AGENTS ?? 15)
const programs = join(import.meta.dirname, '..', 'test', 'clients', 'node_modules', '.bin')

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function untilAsked({ bodies }: Recorder): Promise<number> {
  const deadline = Date.now() + 60_000
  while (bodies.length === 0) {
    if (Date.now() > deadline) throw new Error('the program asked no model')
    await pause(1)
  }
  return performance.now()
}

async function timeBare(recorder: Recorder, folder: string): Promise<number> {
  const [home, workFolder] = [join(folder, 'home'), join(folder, 'work')]
  for (const each of [home, workFolder]) mkdirSync(each, { recursive: true })
  const { args, env, input } = llmaCli.prepare({
    prompt: 'greet the world',
    model: 'test-model',
    maxTurns: 5,
    allowBash: true,
    trustsFolder: false,
    workFolder,
    readFolders: [],
    home,
    proxy: { url: recorder.url, token: 'made-up' },
  })
  recorder.bodies.length = 0
  const started = performance.now()
  const child = spawn(llmaCli.command, args, {
    cwd: workFolder,
    env: { ...env, PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: recorder.url },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.end(input)
  const [asked, [code]] = await Promise.all([untilAsked(recorder), once(child, 'close')])
  if (code !== 0) throw new Error(`the bare program ended with ${code}`)
  rmSync(folder, { recursive: true, force: true })
  return asked - started
}

async function call<T>({ url, token }: RunningService, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${url}/api/v1/${path}`, init)
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

async function timeTask(service: RunningService, recorder: Recorder, name: string): Promise<number> {
  recorder.bodies.length = 0
  const started = performance.now()
  await call(service, 'tasks', {
    name,
    spec: { type: 'agent', prompt: 'greet the world', agentRef: { name: 'coder' } },
  })
  const asked = await untilAsked(recorder)
  for (;;) {
    const { status } = await call<{ status?: { phase?: string; message?: string } }>(service, `tasks/${name}`)
    if (status?.phase === 'Succeeded') return asked - started
    if (status?.phase === 'Failed') throw new Error(status.message)
    await pause(50)
  }
}

async function openService(vendor: string): Promise<RunningService> {
  const service = await startService(['--allow-network', '127.0.0.0/8'])
  await call(service, 'providers', { name: 'main', spec: { type: 'llma', baseURL: vendor } })
  await call(service, 'agents', {
    name: 'coder',
    spec: { runtime: { type: 'llma-cli' }, model: { name: 'main/test-model' } },
  })
  return service
}

function row(what: string, samples: number[], floor: number[]) {
  return {
    what,
    'median, ms': round(percentile(samples, 0.5), 0),
    'min, ms': round(Math.min(...samples), 0),
    'over the bare program, ms': round(percentile(samples, 0.5) - percentile(floor, 0.5), 0),
  }
}

async function measure(service: RunningService, recorder: Recorder): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const [bare, tasks]: [number[], number[]] = [[], []]
  // The first of each fills the caches.
  for (let i = 0; i <= rounds; i += 1) {
    bare.push(await timeBare(recorder, join(folder, String(i))))
    tasks.push(await timeTask(service, recorder, `agent-${i}`))
  }
  rmSync(folder, { recursive: true, force: true })
  const [floor, ours] = [bare.slice(1), tasks.slice(1)]
  report('agent', [
    row('floor: bare Claude Code to its first request', floor, floor),
    row('the same as a task, from its creation', ours, floor),
  ])
}

export async function run(): Promise<void> {
  if (!existsSync(join(programs, llmaCli.command))) throw new Error('run sh scripts/install-clients.sh first')
  process.env.PATH = `${programs}:${process.env.PATH}`
  const vendor = new LLMock({ port: 0 })
  await vendor.start()
  vendor.on({ userMessage: /.*/ }, { content: 'Good morning.' })
  const recorder = await startRecorder(vendor.url)
  const service = await openService(recorder.url)
  try {
    await measure(service, recorder)
  } finally {
    await service.stop()
    await recorder.stop()
    await vendor.stop()
  }
}
