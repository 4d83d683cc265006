// The worker program: starts idle, takes one assignment by pipe, runs it, says how it ended. It never runs a second one.
// Only what an idle worker needs is imported here; the rest is loaded once it has said that it is ready.

import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../errors.ts'
import type { WorkerDeps } from './deps.ts'
import type { AttemptOutcome } from './outcome.ts'
import type { RunAssignment } from './run-assignment.ts'

type WorkerProgram = {
  /** One line of JSON, the WorkAssignment; its end means that the service is gone. */
  stdin: Readable
  /** Descriptor 3: `{"ready":true}`, then the outcome, each a line of JSON. */
  report: Writable
  /** For people: what went wrong outside the task's own log. */
  stderr: Writable
  /** Makes what tasks work with. Called once, while the worker waits. */
  load: () => Promise<WorkerDeps>
  /** Aborts when the process is told to end (TERM). */
  stop?: AbortSignal
  /** Rehearses before it ends without work, so that the compile cache it fills holds all that a run needs. */
  fillsCache?: boolean
}

/** A worker that is taken at once has no time for it. */
const rehearseAfterMs = 100

const noWait = new Error('there is no more time to rehearse')
const serviceGone = Symbol('the service is gone')

/** Runs to the end and answers the exit code: 0 its result is submitted, 1 it failed or there was nothing to do. */
export async function runWorker(program: WorkerProgram): Promise<number> {
  const gone = Promise.withResolvers<typeof serviceGone>()
  const end = new AbortController()
  const waiting = new AbortController()
  const { fillsCache = false } = program
  const endAll = () => {
    end.abort(new Error('the service is gone'))
    if (!fillsCache) waiting.abort(noWait)
    gone.resolve(serviceGone)
  }
  program.stop?.addEventListener('abort', () => end.abort(new Error('the worker was told to stop')), { once: true })
  const line = readFirstLine(program.stdin, endAll)
  line.then(() => waiting.abort(noWait)).catch(() => undefined)
  program.report.on('error', endAll)
  program.report.write('{"ready":true}\n')
  const parts = Promise.all([loadRun(), program.load()])
  parts.catch(() => undefined)
  const rehearsal = rehearseWhileWaiting(parts, { waiting: waiting.signal, afterMs: fillsCache ? 0 : rehearseAfterMs })
  const outcome = await Promise.race([runLine(line, parts, { end: end.signal, stderr: program.stderr }), gone.promise])
  if (outcome === serviceGone) return waitForParts(fillsCache ? rehearsal : parts)
  await writeLine(program.report, outcome)
  return outcome.ok ? 0 : 1
}

type Parts = [RunAssignment, WorkerDeps]

async function loadRun(): Promise<RunAssignment> {
  const { runAssignment, warmUp } = await import('./run-assignment.ts')
  await warmUp()
  return runAssignment
}

/** Nothing comes of it but a faster run; nor does it hold up anything. */
async function rehearseWhileWaiting(
  parts: Promise<Parts>,
  { waiting, afterMs }: { waiting: AbortSignal; afterMs: number },
): Promise<void> {
  try {
    const [, deps] = await parts
    await deps.clock.sleep(afterMs, waiting)
    const { rehearse } = await import('./rehearsal.ts')
    if (!waiting.aborted) await rehearse(deps, waiting)
  } catch {
    // The first run is slower.
  }
}

/** Everything is loaded before an idle worker exits, so that a first run without work fills the compile cache. */
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

/** The first line, however it is cut into pieces. `onEnd` is called at the end of the stream, whenever that is. */
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
