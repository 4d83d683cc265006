// Runs an agent program to its end: a home of its own, a clean environment, its events in neutral words. Whatever it does
// (floods, hangs, half lines, no result), the run ends with one outcome and nothing of its group goes on.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { AgentEvent, AgentJob, AgentRuntime, AgentStart } from '../agents/runtime.ts'
import { messageOf } from '../errors.ts'
import { createLineCutter } from './line-cutter.ts'

/** Longer lines are left out: a file that the agent writes stands in one line. */
const longestLine = 16 * 1024 ** 2
/** All that a program may print. */
const mostOutput = 512 * 1024 ** 2
const errorTailLength = 4096
/** From SIGTERM to SIGKILL. */
const graceMs = 3000
/** A program that has told its result may still write down its session. */
const lingerMs = 5000

export type AgentFailure =
  /** It is not installed. */
  | 'ProgramMissing'
  | 'StartFailed'
  | 'TurnLimit'
  /** It ended by itself and told no result. */
  | 'NoResult'
  /** It said that it failed. */
  | 'AgentFailed'
  | 'TooMuchOutput'
  /** From outside, by the signal. */
  | 'Stopped'

export type AgentEnd = {
  /** Absent: it told none. */
  sessionId?: string
  turns: number
} & ({ ok: true; result: string } | { ok: false; reason: AgentFailure; message: string })

export type AgentSurroundings = {
  /** Where programs are looked up. */
  path: string
  signal: AbortSignal
  emit(event: AgentEvent): void
  /** For tests. */
  graceMs?: number
}

type Failure = { ok: false; reason: AgentFailure; message: string }

const fail = (reason: AgentFailure, message: string): Failure => ({ ok: false, reason, message })

/** Never throws. */
export async function runAgentProgram(
  runtime: AgentRuntime,
  job: AgentJob,
  surroundings: AgentSurroundings,
): Promise<AgentEnd> {
  const { path, signal } = surroundings
  const program = findProgram(runtime.command, path)
  if (program === undefined) {
    const message = `The program "${runtime.command}" is not installed. Install it with: ${runtime.install}`
    return { ...fail('ProgramMissing', message), turns: 0 }
  }
  if (signal.aborted) return { ...fail('Stopped', 'The run was stopped before the program began.'), turns: 0 }
  try {
    const start = runtime.prepare(job)
    await layFiles(job.home, start.files)
    const child = spawn(program, start.args, {
      cwd: job.workFolder,
      env: { ...homeEnvironment(job.home), ...start.env, PATH: path },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, which ends as one.
      detached: true,
    })
    return await followProgram(child, { start, job, surroundings })
  } catch (error) {
    return { ...fail('StartFailed', messageOf(error)), turns: 0 }
  }
}

/** An absolute or relative path stands for itself. */
function findProgram(command: string, path: string): string | undefined {
  if (command.includes('/')) return existsSync(command) ? command : undefined
  const places = path.split(':').filter((folder) => folder !== '')
  return places.map((folder) => join(folder, command)).find((file) => existsSync(file))
}

function homeEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
  }
}

async function layFiles(home: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true, mode: 0o700 })
    await writeFile(join(home, name), text, { mode: 0o600 })
  }
}

type Run = { start: AgentStart; job: AgentJob; surroundings: AgentSurroundings }

async function followProgram(child: ChildProcess, { start, job, surroundings }: Run): Promise<AgentEnd> {
  const { signal } = surroundings
  const group = createGroup(child, surroundings.graceMs ?? graceMs)
  const judge = createJudge(job.maxTurns, surroundings.emit)
  const errorTail = keepTail(child, errorTailLength)
  const stop = () => {
    judge.decide(fail('Stopped', 'The run was stopped.'))
    group.stop()
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  // A program that ends before it has read everything breaks the pipe; its end says what happened.
  child.stdin?.on('error', () => undefined)
  child.stdin?.write(start.input)
  if (!start.staysOpen) child.stdin?.end()

  const cutter = createLineCutter(longestLine)
  let size = 0
  const readLine = (line: string) => {
    const { events, reply, isOver } = start.reader.read(line)
    for (const event of events) judge.hear(event)
    if (reply !== undefined) child.stdin?.write(reply)
    if (isOver === true) {
      child.stdin?.end()
      group.stopSoon(lingerMs)
    } else if (judge.isDecided()) group.stop()
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    if (judge.isDecided()) return
    size += chunk.length
    if (size > mostOutput) {
      judge.decide(fail('TooMuchOutput', `The program printed more than ${mostOutput / 1024 ** 2} MiB.`))
      return group.stop()
    }
    for (const line of cutter.push(chunk)) readLine(line)
  })
  child.stdout?.on('end', () => cutter.end().forEach(readLine))
  const exit = await group.ended
  signal.removeEventListener('abort', stop)
  return judge.conclude(exit, errorTail())
}

type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: Error }

type Group = { stop(): void; stopSoon(ms: number): void; ended: Promise<Exit> }

function createGroup(child: ChildProcess, grace: number): Group {
  const timers = new AbortController()
  let isStopping = false
  const send = (name: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, constants.signals[name])
    } catch {
      // Nothing of it is left.
    }
  }
  const later = (ms: number, act: () => void) =>
    void wait(ms, undefined, { signal: timers.signal }).then(act, () => undefined)
  const stop = () => {
    if (isStopping) return
    isStopping = true
    send('SIGTERM')
    later(grace, () => {
      send('SIGKILL')
      // A process that left the group may hold the pipe.
      child.stdout?.destroy()
      child.stderr?.destroy()
    })
  }
  let error: Error | undefined
  child.once('error', (reason) => {
    error = reason
  })
  // What it started and left behind may hold its pipes: `close` would not come.
  child.once('exit', stop)
  const ended = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      send('SIGKILL')
      timers.abort()
      resolve({ code, signal, ...(error && { error }) })
    })
  })
  return { stop, stopSoon: (ms) => later(ms, stop), ended }
}

type Judge = {
  hear(event: AgentEvent): void
  decide(failure: Failure): void
  isDecided(): boolean
  conclude(exit: Exit, errorTail: string): AgentEnd
}

/** The first failure counts. Whatever comes after a result does not undo it. */
function createJudge(maxTurns: number, emit: (event: AgentEvent) => void): Judge {
  let sessionId: string | undefined
  let turns = 0
  let result: string | undefined
  let failure: Failure | undefined
  const decide = (next: Failure) => {
    if (result === undefined) failure ??= next
  }
  const turnLimit = fail('TurnLimit', `The agent reached its limit of ${maxTurns} turns without a result.`)

  function hear(event: AgentEvent): void {
    if (failure !== undefined) return
    if (event.type === 'turn' && turns === maxTurns) return decide(turnLimit)
    emit(event)
    if (event.type === 'session') sessionId = event.id
    if (event.type === 'turn') turns += 1
    if (event.type === 'result') result = event.text
    if (event.type === 'failed') decide(event.reason === 'turns' ? turnLimit : fail('AgentFailed', event.message))
  }

  function explainSilence({ code, signal, error }: Exit, errorTail: string): Failure {
    if (error !== undefined) return fail('StartFailed', `The program could not be started: ${messageOf(error)}`)
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    const words = errorTail.trim().split('\n').slice(-3).join(' ')
    return fail('NoResult', `The program ended ${how} and told no result${words === '' ? '.' : `: ${words}`}`)
  }

  return {
    hear,
    decide,
    isDecided: () => failure !== undefined,
    conclude(exit, errorTail) {
      const known = { turns, ...(sessionId === undefined ? {} : { sessionId }) }
      if (failure !== undefined) return { ...failure, ...known }
      return result === undefined ? { ...explainSilence(exit, errorTail), ...known } : { ok: true, result, ...known }
    },
  }
}

function keepTail({ stderr }: ChildProcess, length: number): () => string {
  let tail = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-length)
  })
  return () => tail
}
