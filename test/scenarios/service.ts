// The real program in a process of its own, with folders that are thrown away: what every scenario drives.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { type CommandOutcome, runLoaded } from '../fixtures/cli/loaded-programs.ts'
import { waitFor } from '../fixtures/time.ts'

export const root = join(import.meta.dirname, '..', '..')
/** Of the built program, where the run has made one. */
export const launcher = join(process.env.SVC_TEST_PROGRAM ?? root, 'bin', 'svc')
/** The young generation that the launcher's first line allows, from the start: growing to it is a fifth of a short run. */
export const nodeFlags = ['--min-semi-space-size=16', '--max-semi-space-size=16']

export { findProcesses } from '../fixtures/processes.ts'

export type Answer<T = unknown> = { status: number; body: T; headers: Headers }

export type Service = {
  url: string
  token: string
  process: ChildProcess
  folder: string
  env: NodeJS.ProcessEnv
  /** What it wrote to standard output and error. */
  output(): string
  call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>
  /** SIGTERM, and wait for the end; the folders stay. */
  stop(): Promise<number | null>
  /** SIGKILL, and wait for the end; the folders stay. */
  kill(): Promise<void>
}

export type StartOptions = {
  folder?: string
  flags?: string[]
  env?: NodeJS.ProcessEnv
  /** The launcher of another checkout. */
  program?: string
  /** The Node that runs it; default: that of the tests. */
  runtime?: string
  /** The user that it runs as; default: that of the tests. */
  uid?: number
  /** How long it may take to start; default: as long as anything may. */
  patienceMs?: number
}

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'svc-scenario-'))
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** The environment of a user who has only this folder. */
export function environmentOf(folder: string): NodeJS.ProcessEnv {
  const { PATH, LANG, NODE_COMPILE_CACHE } = process.env
  const home = { HOME: folder, XDG_DATA_HOME: join(folder, 'share'), XDG_CONFIG_HOME: join(folder, 'config') }
  return { PATH, LANG, NODE_COMPILE_CACHE, ...home, TMPDIR: tmpdir() }
}

/** What a failed test left running ends with the test process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Each worker of a new data folder would compile its program anew. */
function shareWorkerCache(folder: string): void {
  const shared = process.env.SVC_TEST_WORKER_CACHE
  const data = join(folder, 'share', 'svc')
  if (shared === undefined || existsSync(data)) return
  mkdirSync(shared, { recursive: true, mode: 0o700 })
  mkdirSync(data, { recursive: true })
  symlinkSync(shared, join(data, 'cache'))
}

export async function startService(options: StartOptions = {}): Promise<Service> {
  const folder = options.folder ?? makeFolder()
  const env = { ...environmentOf(folder), ...options.env }
  const readyFile = join(folder, 'ready.json')
  rmSync(readyFile, { force: true })
  if (options.uid === undefined) shareWorkerCache(folder)
  const args = [
    ...nodeFlags,
    options.program ?? launcher,
    'up',
    '--port',
    '0',
    '--ready-file',
    readyFile,
    ...(options.flags ?? []),
  ]
  const { uid } = options
  const user = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(options.runtime ?? process.execPath, args, { ...user, env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  const output = () => chunks.join('')
  await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${output()}`)
      return existsSync(readyFile)
    },
    'the service to be ready',
    options.patienceMs,
  )
  const { url, token } = JSON.parse(readFileSync(readyFile, 'utf8')) as { url: string; token: string }
  return {
    url,
    token,
    process: child,
    folder,
    env,
    output,
    call: (method, path, body) => callAt({ url, token }, method, path, body),
    stop: () => end(child, 'SIGTERM'),
    kill: async () => void (await end(child, 'SIGKILL')),
  }
}

export async function callAt<T>(
  to: { url: string; token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  const headers: Record<string, string> = { authorization: `Bearer ${to.token}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init: RequestInit = { method, headers }
  if (body !== undefined) init.body = JSON.stringify(body)
  const response = await fetch(new URL(path, to.url), init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: (isJson ? JSON.parse(text) : text) as T, headers: response.headers }
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.kill(signal)
  })
}

/** Whoever may ask a service. */
type Caller = Pick<Service, 'call'>

export async function createTask(service: Caller, name: string, spec: object, metadata: object = {}): Promise<Task> {
  const answer = await service.call<Task>('POST', '/api/v1/tasks', { metadata: { name, ...metadata }, spec })
  if (answer.status !== 201) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

export async function getTask(service: Caller, name: string): Promise<Task> {
  return (await service.call<Task>('GET', `/api/v1/tasks/${name}`)).body
}

const finalPhases = ['Succeeded', 'Failed', 'Cancelled']

export async function waitForPhase(service: Caller, name: string, ...phases: string[]): Promise<Task> {
  return waitFor(
    async () => {
      const task = await getTask(service, name)
      const phase = task.status?.phase ?? ''
      if (phases.includes(phase)) return task
      if (finalPhases.includes(phase)) throw new Error(`${name} is ${phase}: ${task.status?.message}`)
      return undefined
    },
    `${name} to be ${phases.join(' or ')}`,
  )
}

export async function readResult(service: Caller, name: string): Promise<string> {
  const answer = await service.call<{ result: string }>('GET', `/api/v1/tasks/${name}/result`)
  return answer.body.result
}

type CommandOptions = { cwd?: string; input?: string }

/** Runs `svc ...` as the user of the folder, in a program that stays loaded for the next command. */
export function runSvc(args: string[], env: NodeJS.ProcessEnv, options: CommandOptions = {}): Promise<CommandOutcome> {
  return runLoaded({ args, env, input: '', ...options }, nodeFlags)
}

/** The same in a process of its own: for what is about the process, such as how it starts, what it starts and how it ends. */
export function launchSvc(
  args: string[],
  env: NodeJS.ProcessEnv,
  options: CommandOptions = {},
): Promise<CommandOutcome> {
  return runProgram(process.execPath, [...nodeFlags, launcher, ...args], { env, ...options })
}

export function runProgram(
  program: string,
  args: string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; input?: string },
): Promise<CommandOutcome> {
  const child = spawn(program, args, { env: options.env, cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin.end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
