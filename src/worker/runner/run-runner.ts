// The runner program: one process that runs attempts of many tasks at once, as its service orders. It has no code of a user or a
// model to run, and no sandbox to run it in: the service runs code.
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { type Client, createApiClient } from '../../client/client.ts'
import { endLimits } from '../../contract/api/tasks/attempt-end.ts'
import {
  RunnerOrder,
  RunnerSetup,
  readWork,
  registerRunner,
  runnerLimits,
  runnerProtocol,
  stepFile,
} from '../../contract/api/tasks/runners.ts'
import { followSignals, onAbort } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { tryParseJson } from '../../lib/json.ts'
import { createWorkerApi } from '../api.ts'
import type { RunAssignment } from '../run-assignment.ts'
import { type EndedAttempt, RunnerAttempts, type SharedDeps } from './attempts.ts'
import { StepRecord } from './steps.ts'
import { type DropMessage, factsMs, type RunnerFacts, type WatchdogSetup, watchdogModule } from './watchdog-thread.ts'

type OrderSource = { client: Client; id: string; clock: Clock; signal: AbortSignal }

const againMs = 500

/** The orders, one a line of an answer that lasts; another one is asked for when it breaks off. Resolves when the signal aborts. */
async function followOrders(source: OrderSource, take: (order: RunnerOrder) => void): Promise<void> {
  const { clock, signal } = source
  while (!signal.aborted) {
    // Whatever broke: the lease decides how long it may go on.
    await readOrders(source, take).catch(() => undefined)
    await clock.sleep(againMs, signal).catch(() => undefined)
  }
}

async function readOrders({ client, id, signal }: OrderSource, take: (order: RunnerOrder) => void): Promise<void> {
  const silence = followSignals(signal)
  const timer = setTimeout(() => silence.abort(new Error('no line came')), runnerLimits.leaseMs)
  try {
    const response = await client.open(readWork, { params: { id }, signal: silence.signal })
    if (response.body === null) return
    const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
    for await (const line of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
      timer.refresh()
      // Orders of a later version are passed over.
      const order = line === '' ? undefined : RunnerOrder.safeParse(tryParseJson(line)).data
      if (order !== undefined) take(order)
    }
  } finally {
    clearTimeout(timer)
    silence.release()
  }
}

export type RunnerProgram = {
  /** One line of JSON, the RunnerSetup; the end of the stream means that the service is gone, or wants no runner any more. */
  stdin: Readable
  deps: SharedDeps
  run: RunAssignment
  /** Aborts when the process is told to end (TERM). */
  stop: AbortSignal
  /** For whoever looks why a runner ended. */
  warn(message: string): void
}

/** How long what runs may take to end when the service is gone: all of it is lost. */
const closingMs = 3000

/** Runs until its service is gone or wants it no more, and returns the exit code. */
export async function runRunner({ stdin, deps, run, stop, warn }: RunnerProgram): Promise<number> {
  const ending = new AbortController()
  onAbort(stop, () => ending.abort())
  const setup = await readSetup(stdin, () => ending.abort())
  if (setup === undefined) return 1
  const { url, token, version, root, slots, attemptBytes } = setup
  const { clock } = deps
  const client = createApiClient({ url, token, fetch: deps.fetch })
  const body = { protocol: runnerProtocol, version, slots, attemptBytes, runs: ['ai' as const], runsCode: false }
  const { id, ...lease } = await client.call(registerRunner, { body, signal: ending.signal })
  const attempts = new RunnerAttempts({
    deps,
    root,
    run,
    steps: new StepRecord(join(root, stepFile.name)),
    onEnd: (end) => void reportEnd(end, deps),
    onLeftFolder: warn,
  })
  const watchdog = startWatchdog({ module: watchdogModule, url, token, id, ...lease }, attempts, slots)
  const take = (order: RunnerOrder) => {
    if (order.type === 'assign') attempts.begin(order)
    if (order.type === 'stop') attempts.stop(order)
    if (order.type === 'retire') void attempts.settle().then(() => ending.abort())
  }
  await followOrders({ client, id, clock, signal: ending.signal }, take)
  await Promise.race([attempts.close('the service is gone'), clock.sleep(closingMs)])
  await watchdog.terminate()
  return 0
}

/** Undefined when the stream ends before. `onEnd` is called at its end, whenever that is. */
function readSetup(stdin: Readable, onEnd: () => void): Promise<RunnerSetup | undefined> {
  return new Promise((resolve) => {
    let text = ''
    stdin.setEncoding('utf8')
    stdin.on('data', (piece: string) => {
      text += piece
      if (text.endsWith('\n')) resolve(RunnerSetup.safeParse(JSON.parse(text)).data)
    })
    for (const event of ['end', 'close', 'error']) {
      stdin.once(event, () => {
        resolve(undefined)
        onEnd()
      })
    }
  })
}

/** A runner with attempts that do not end although they should takes nothing more: their memory comes back with its process. */
function describeFacts(attempts: RunnerAttempts, slots: number): RunnerFacts {
  const { current } = attempts
  return { slots: attempts.overdue > 0 ? 0 : slots, attempts: attempts.list(), ...(current && { current }) }
}

function startWatchdog(setup: WatchdogSetup, attempts: RunnerAttempts, slots: number): Worker {
  const thread = new Worker(new URL(setup.module), { workerData: setup, env: {}, execArgv: [] })
  const publish = () => thread.postMessage(describeFacts(attempts, slots))
  const timer = setInterval(publish, factsMs)
  publish()
  thread.on('message', ({ drop }: DropMessage) => attempts.drop(drop))
  // Without it nobody would renew the lease.
  thread.once('exit', () => clearInterval(timer))
  thread.once('error', (error) => {
    throw error
  })
  return thread
}

async function reportEnd({ connection, outcome }: EndedAttempt, { clock, ids, fetch }: SharedDeps) {
  if (connection === undefined) return
  const end = outcome.ok ? outcome : { ...outcome, message: outcome.message.slice(0, endLimits.message) }
  const api = createWorkerApi({
    ...connection,
    clock,
    random: () => ids.random(),
    fetch,
    signal: new AbortController().signal,
  })
  // What the service does not take it knows already: another attempt is live, or the task is gone.
  await api.submitEnd(end).catch(() => undefined)
}
