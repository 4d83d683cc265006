// The worker program: starts without work, receives one assignment over a pipe, runs it, reports the outcome. It never runs
// another. Little is imported here; the rest is loaded after it has reported that it is ready.
import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'
import type { WorkerDeps } from './deps.ts'
import type { AttemptOutcome } from './outcome.ts'
import type { RunAssignment } from './run-assignment.ts'

type WorkerProgram = {
  /** One line of JSON, the WorkAssignment; the end of the stream means that the service is gone. */
  stdin: Readable
  /** Descriptor 3: `{"ready":true}`, then the outcome, each as a line of JSON. */
  report: Writable
  /** For people: what went wrong outside the task's own log. */
  stderr: Writable
  /** Creates what tasks work with. Called once, before there is work. */
  load: () => Promise<WorkerDeps>
  /** Aborts when the process is told to end (TERM). */
  stop?: AbortSignal
}

const serviceGone = Symbol('the service is gone')

/** Runs to the end and returns the exit code: 0 when the result is submitted, 1 when it failed or there was no work. */
export async function runWorker(program: WorkerProgram): Promise<number> {
  const gone = Promise.withResolvers<typeof serviceGone>()
  const end = new AbortController()
  const endAll = () => {
    end.abort(new Error('the service is gone'))
    gone.resolve(serviceGone)
  }
  onAbort(program.stop, () => end.abort(new Error('the worker was told to stop')))
  const line = readFirstLine(program.stdin, endAll)
  program.report.on('error', endAll)
  program.report.write('{"ready":true}\n')
  const parts = Promise.all([loadRun(), program.load()])
  parts.catch(() => undefined)
  const outcome = await Promise.race([runLine(line, parts, { end: end.signal, stderr: program.stderr }), gone.promise])
  if (outcome === serviceGone) return waitForParts(parts)
  await writeLine(program.report, outcome)
  return outcome.ok ? 0 : 1
}

type Parts = [RunAssignment, WorkerDeps]

async function loadRun(): Promise<RunAssignment> {
  const { runAssignment, preload } = await import('./run-assignment.ts')
  await preload()
  return runAssignment
}

/** Loads everything before an idle worker exits, so that a first start without work fills the compile cache. */
async function waitForParts(parts: Promise<unknown>): Promise<number> {
  await parts.catch(() => undefined)
  return 1
}

async function runLine(
  line: Promise<string>,
  parts: Promise<Parts>,
  program: { end: AbortSignal; stderr: Writable },
): Promise<AttemptOutcome> {
  try {
    const text = await line
    const [runAssignment, deps] = await parts
    return await runAssignment(text, deps, program.end)
  } catch (error) {
    program.stderr.write(`${messageOf(error)}\n`)
    return { ok: false, reason: 'Internal', message: 'The worker broke; its log has the cause.' }
  }
}

/** The first line, in pieces of any size. `onEnd` is called at the end of the stream, whenever that is. */
function readFirstLine(stdin: Readable, onEnd: () => void): Promise<string> {
  return new Promise((resolve) => {
    let pieces: Buffer[] | undefined = []
    stdin.on('data', (piece: Buffer | string) => {
      if (pieces === undefined) return
      const bytes = Buffer.from(piece as string)
      const end = bytes.indexOf(10)
      pieces.push(end === -1 ? bytes : bytes.subarray(0, end))
      if (end === -1) return
      resolve(Buffer.concat(pieces).toString('utf8'))
      pieces = undefined
    })
    for (const event of ['end', 'close', 'error']) stdin.once(event, onEnd)
  })
}

function writeLine(report: Writable, outcome: AttemptOutcome): Promise<void> {
  return new Promise((resolve) => {
    report.write(`${JSON.stringify(outcome)}\n`, () => resolve())
    report.once('error', () => resolve())
  })
}
