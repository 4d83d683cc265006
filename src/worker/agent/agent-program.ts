// Runs an agent program to its end: a home of its own, a clean environment, its events in neutral words. Whatever it does
// (floods, hangs, half lines, no result), the run ends with one outcome and nothing of its group goes on.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type {
  AgentEvent,
  AgentJob,
  AgentProgram,
  AgentQuestion,
  AgentReading,
  AgentStart,
} from '../../agents/agent-runtime.ts'
import type { AssignedLaunch } from '../../contract/api/tasks/assignment.ts'
import { gateVariables } from '../../contract/values/proxy-variables.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { ProgramStart, Programs, RunningProgram } from '../../ports/workspaces/sandbox.ts'
import { homeEnvironment, writeFiles } from './agent-home.ts'
import { type AgentEnd, type AgentFailure, createJudge, fail } from './agent-verdict.ts'
import { createLineCutter, createProgramGroup } from './program-process.ts'
import type { Refusal } from './refusal.ts'

/** Longer lines are left out: a file that the agent writes stands in one line. */
const maxLineBytes = 16 * 1024 ** 2
/** All that a program may print, its errors included: each line costs time, however short. */
const maxOutput = { bytes: 512 * 1024 ** 2, lines: 2_000_000 }
/** Programs of Node end with a list of locations after the words that count. */
const errorTailLength = 16_384
/** After this long without a word, and twice as long each time after it, the log says so. */
const silenceMs = 30_000
/** From SIGTERM to SIGKILL. */
const graceMs = 3000
/** A program that has reported its result may still write down its session. */
const lingerMs = 5000

/** What a person says to it; `wait`: nobody has answered yet. */
export type AskPerson = (question: AgentQuestion) => Promise<PersonAnswer>
export type PersonAnswer = { refusal?: string } | 'wait'

export type AgentSurroundings = {
  /** Where programs are looked up. */
  path: string
  /** How the service has found it; absent: it is looked up. */
  launch?: AssignedLaunch | undefined
  programs: Pick<Programs, 'start'>
  /** Present: its only network (`ProgramStart`). */
  ports?: ProgramStart['ports']
  signal: AbortSignal
  emit(event: AgentEvent): void
  /** Asks a person. Absent: what the program asks for is refused. */
  askPerson?: AskPerson
  /** What the program's last model call was refused with; absent: nobody has seen its calls. */
  lastRefusal?(): Refusal | undefined
  /** What is quoted of the program's errors is a part of them: a secret that is cut in two would not be found. */
  redact(text: string): string
  /** For tests. */
  graceMs?: number
  silenceMs?: number
  maxOutput?: typeof maxOutput
}

/** Never throws. */
export async function runAgentProgram(
  runtime: AgentProgram,
  job: AgentJob,
  surroundings: AgentSurroundings,
): Promise<AgentEnd> {
  const { path, programs, ports, signal } = surroundings
  const launch = surroundings.launch ?? findLaunch(runtime.command, path)
  const missing = launch?.argv.find((word) => word.startsWith('/') && !existsSync(word))
  if (launch === undefined || missing !== undefined) {
    const where = missing === undefined ? '' : ` any more: ${missing} is gone`
    const message = `The program "${runtime.command}" is not installed${where}. Install it with: ${runtime.install}`
    return { ...fail('ProgramMissing', message), turns: 0 }
  }
  if (signal.aborted) return { ...fail('Stopped', 'The run was stopped before the program began.'), turns: 0 }
  try {
    // What is in an image is not asked for its version: its container starts one program. Images hold a version that is tested.
    const start = runtime.prepare({ ...job, ...(launch.version !== undefined && { version: launch.version }) })
    checkFolder(job.workFolder, start.refusedNames ?? [])
    await mkdir(join(job.home, 'tmp'), { recursive: true, mode: 0o700 })
    await writeFiles(job.home, start.files, 'own')
    const running = await programs.start({
      argv: [...launch.argv, ...start.args],
      ...(launch.folders && { folders: launch.folders }),
      folder: job.workFolder,
      home: job.home,
      ...limitNetwork(ports, { ...homeEnvironment(job.home), ...start.env, PATH: path }),
    })
    return await followProgram(running, { start, job, surroundings, install: runtime.install })
  } catch (error) {
    return { ...fail('StartFailed', messageOf(error)), turns: 0 }
  }
}

function limitNetwork(ports: ProgramStart['ports'], env: Record<string, string>): Pick<ProgramStart, 'env' | 'ports'> {
  return ports === undefined ? { env } : { env: { ...gateVariables, ...env }, ports }
}

/** Where the service has not looked it up: in an image. An absolute or relative path stands for itself. */
function findLaunch(
  command: string,
  path: string,
): (Partial<AssignedLaunch> & Pick<AssignedLaunch, 'argv'>) | undefined {
  const folders = path.split(':').filter((folder) => folder !== '')
  const files = command.includes('/') ? [command] : folders.map((folder) => join(folder, command))
  const file = files.find((file) => existsSync(file))
  return file === undefined ? undefined : { argv: [file] }
}

/** Programs look for their settings upwards as well. */
function checkFolder(workFolder: string, refused: string[]): void {
  for (let folder = workFolder; ; folder = dirname(folder)) {
    const found = refused.map((name) => join(folder, name)).find((file) => existsSync(file))
    if (found !== undefined) {
      const advice = 'remove it, or set runtime.trustRepository of the agent if you trust whoever may write it'
      throw new SvcError('InvalidRequest', `The program would start code that ${found} names, or follow it: ${advice}.`)
    }
    if (folder === dirname(folder)) return
  }
}

type Run = { start: AgentStart; job: AgentJob; surroundings: AgentSurroundings; install: string }

async function followProgram(program: RunningProgram, { start, job, surroundings, install }: Run): Promise<AgentEnd> {
  const { signal, emit, redact } = surroundings
  const group = createProgramGroup(program, surroundings.graceMs ?? graceMs)
  const judge = createJudge(job.maxTurns, emit)
  const errorTail = keepTail(program, errorTailLength)
  const plain = createPlainTail()
  const silence = watchSilence(emit, surroundings.silenceMs ?? silenceMs)
  const end = (failure: AgentFailure, message: string) => {
    judge.decide(fail(failure, message))
    group.stop()
  }
  const stop = () => end('Stopped', 'The run was stopped.')
  const removeListener = onAbort(signal, stop)
  // A program that ends before it has read everything breaks the pipe; its end says what happened.
  program.stdin?.on('error', () => undefined)
  program.stdin?.write(start.input)
  if (!start.staysOpen) program.stdin?.end()

  const handle = ({ events, reply, isOver = false, question }: AgentReading) => {
    for (const event of events) judge.hear(event)
    if (reply !== undefined) program.stdin?.write(reply)
    if (isOver) program.stdin?.end()
    if (isOver) group.stopSoon(lingerMs)
    else if (judge.isDecided()) group.stop()
    ask(question)
  }
  const ask = createAsker(surroundings.askPerson, { isOver: judge.isDecided, handle, end })
  readOutput(program, surroundings.maxOutput ?? maxOutput, {
    onLine: (line) => {
      plain.note(line)
      silence.breakOff()
      if (!judge.isDecided()) handle(start.reader.read(line))
    },
    onFlood: (what) => end('TooMuchOutput', `The program printed more than ${what}.`),
  })
  const exit = await group.ended.finally(silence.end)
  removeListener()
  const errors = errorTail()
  const words = redact(errors.trim() === '' ? plain.read() : errors)
  return judge.conclude(exit, { words, install, refusal: readRefusal(surroundings) })
}

function readRefusal({ lastRefusal, redact }: AgentSurroundings): Refusal | undefined {
  const refusal = lastRefusal?.()
  return refusal && { ...refusal, message: redact(refusal.message) }
}

type Asking = {
  isOver(): boolean
  handle(reading: AgentReading): void
  end(failure: AgentFailure, message: string): void
}

const nobody: AskPerson = async () => ({ refusal: 'There is nobody to ask.' })

/** One question after the other: the first that has no answer yet ends the run, and what comes after it is not asked. */
function createAsker(askPerson = nobody, { isOver, handle, end }: Asking): (question?: AgentQuestion) => void {
  let queue = Promise.resolve()
  async function settle(question: AgentQuestion): Promise<void> {
    if (isOver()) return
    try {
      const answer = await askPerson(question)
      if (answer === 'wait') end('Parked', 'The run waits for the answer of a person.')
      else if (!isOver()) handle(question.settle(answer.refusal))
    } catch (error) {
      end('AgentFailed', `What the program asks for could not be put to a person: ${messageOf(error)}`)
    }
  }
  return (question) => {
    if (question !== undefined) queue = queue.then(() => settle(question))
  }
}

type Listener = { onLine(line: string): unknown; onFlood(what: string): void }

/** Reads on whatever happens: a program that cannot write does not end. */
function readOutput({ stdout, stderr }: RunningProgram, max: typeof maxOutput, { onLine, onFlood }: Listener): void {
  const cutter = createLineCutter(maxLineBytes)
  const printed = { bytes: 0, lines: 0 }
  let isFlood = false
  const count = (what: 'bytes' | 'lines', more: number) => {
    printed[what] += more
    if (isFlood || printed[what] <= max[what]) return
    isFlood = true
    onFlood(what === 'bytes' ? `${max.bytes / 1024 ** 2} MiB` : `${max.lines} lines`)
  }
  const take = (line: string) => {
    count('lines', 1)
    if (!isFlood) onLine(line)
  }
  stdout.on('data', (chunk: Buffer) => {
    count('bytes', chunk.length)
    if (!isFlood) cutter.push(chunk).forEach(take)
  })
  stderr.on('data', (chunk: Buffer | string) => count('bytes', chunk.length))
  stdout.on('end', () => cutter.end().forEach(take))
}

/** Lines that are no events, as some programs print why they do not start. */
function createPlainTail(): { note(line: string): void; read(): string } {
  let tail = ''
  return {
    note(line) {
      if (!line.startsWith('{')) tail = `${tail}${line}\n`.slice(-errorTailLength)
    },
    read: () => tail,
  }
}

/** A program whose vendor cannot be reached may ask again for minutes without a word of it. */
function watchSilence(emit: (event: AgentEvent) => void, firstMs: number) {
  let since = performance.now()
  let timer: NodeJS.Timeout
  const wait = (ms: number) => {
    timer = setTimeout(() => {
      emit({ type: 'silent', seconds: Math.round((performance.now() - since) / 1000) })
      wait(ms * 2)
    }, ms)
  }
  const breakOff = () => {
    clearTimeout(timer)
    since = performance.now()
    wait(firstMs)
  }
  wait(firstMs)
  return { breakOff, end: () => clearTimeout(timer) }
}

function keepTail({ stderr }: RunningProgram, length: number): () => string {
  let tail = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-length)
  })
  return () => tail
}
