// The Workloads port on one machine: attempts, their states, their deadlines and their ends.
import { messageOf, SvcError } from '../../errors.ts'
import type { AttemptKey, FailureReason, WorkloadSpec, WorkloadState, Workloads } from '../../ports/workloads.ts'
import { type AttemptEnd, type RunningAttempt, StartRefused } from './attempt.ts'
import { createRunner, type RunnerOptions, type RunnerStatus } from './runner.ts'

export type EmbeddedWorkloadsOptions = RunnerOptions & {
  /** Attempts at the same time. */
  maxConcurrent: number
  /** From TERM to KILL; 10 s. */
  graceMs?: number
  /** Takes output lines; is waited for, so that a slow store slows the program and fills no memory. */
  onLog: (key: AttemptKey, lines: string[]) => Promise<void> | void
}

export type EmbeddedWorkloads = Workloads & {
  /** For the service's status: sandbox, limits, waiting workers with their memory, attempts under way. */
  status(): Promise<RunnerStatus & { running: number }>
}

type Stop = { reason: FailureReason; message: string }

type Entry = {
  spec: WorkloadSpec
  state: WorkloadState
  attempt: RunningAttempt | undefined
  /** Why it was told to end; the first reason stays. */
  stop: Stop | undefined
  stopping: AbortController
  /** Resolves when it is over, however it ended. */
  finished: Promise<void>
}

function nameEntry(key: AttemptKey): string {
  return `${key.taskUid}/${key.attempt}`
}

function isOver(state: WorkloadState): boolean {
  return state.phase === 'Succeeded' || state.phase === 'Failed'
}

/** The state after an end. A stop that was asked for is the reason, whatever the program made of it. */
function judgeEnd(entry: Entry, end: AttemptEnd, finishedAt: Date): WorkloadState {
  const startedAt = entry.state.phase === 'Running' ? entry.state.startedAt : undefined
  const started = startedAt === undefined ? {} : { startedAt }
  const exitCode = end.ok || end.exitCode === undefined ? {} : { exitCode: end.exitCode }
  if (entry.stop !== undefined) return { phase: 'Failed', ...entry.stop, ...exitCode, ...started, finishedAt }
  if (end.ok) return { phase: 'Succeeded', startedAt: startedAt ?? finishedAt, finishedAt }
  return { phase: 'Failed', reason: end.reason, message: end.message, ...exitCode, ...started, finishedAt }
}

function describeStartError(error: unknown): AttemptEnd {
  if (error instanceof StartRefused) return { ok: false, reason: error.reason, message: error.message }
  return { ok: false, reason: 'StartFailed', message: `The attempt could not be started: ${messageOf(error)}` }
}

export function createEmbeddedWorkloads(options: EmbeddedWorkloadsOptions): EmbeddedWorkloads {
  const { clock } = options
  const runner = createRunner(options)
  const entries = new Map<string, Entry>()
  const listeners = new Set<Parameters<Workloads['onChange']>[0]>()
  let isClosed = false

  const setState = (entry: Entry, state: WorkloadState) => {
    entry.state = state
    const { key, namespace, taskName } = entry.spec
    for (const listener of listeners) listener({ key, namespace, taskName })
  }
  const countRunning = () => [...entries.values()].filter((entry) => !isOver(entry.state)).length

  /** TERM, and KILL after the grace if it has not ended by then. */
  const endAttempt = async (attempt: RunningAttempt) => {
    const over = new AbortController()
    const ended = attempt.ended.then(() => over.abort())
    await attempt.terminate()
    await clock.sleep(options.graceMs ?? 10_000, over.signal).then(attempt.kill, () => undefined)
    await ended
  }
  const stopEntry = (entry: Entry, stop: Stop) => {
    if (isOver(entry.state)) return
    entry.stop ??= stop
    entry.stopping.abort()
  }
  const watchDeadline = async (entry: Entry, seconds: number, over: AbortSignal) => {
    await clock.sleep(seconds * 1000, over)
    stopEntry(entry, { reason: 'DeadlineExceeded', message: `The attempt ran longer than its limit of ${seconds} s.` })
  }

  const runAttempt = async (entry: Entry): Promise<AttemptEnd> => {
    const { signal } = entry.stopping
    const attempt = await runner.start(entry.spec, (lines) => options.onLog(entry.spec.key, lines), signal)
    entry.attempt = attempt
    setState(entry, { phase: 'Running', startedAt: clock.now() })
    const stop = () => void endAttempt(attempt).catch(() => attempt.kill())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    return attempt.ended
  }
  const carryOut = async (entry: Entry) => {
    const over = new AbortController()
    const { deadlineSeconds } = entry.spec.limits
    if (deadlineSeconds !== undefined) watchDeadline(entry, deadlineSeconds, over.signal).catch(() => undefined)
    const end = await runAttempt(entry).catch(describeStartError)
    over.abort()
    setState(entry, judgeEnd(entry, end, clock.now()))
  }

  const dropEntry = async (entry: Entry) => {
    stopEntry(entry, { reason: 'Stopped', message: 'The attempt was stopped.' })
    await entry.finished
    await entry.attempt?.release()
    entries.delete(nameEntry(entry.spec.key))
  }

  return {
    ensure: async (spec) => {
      const name = nameEntry(spec.key)
      if (entries.has(name)) return
      if (isClosed)
        throw new SvcError('Unavailable', 'The service is stopping; the attempt starts after its next start.')
      if (countRunning() >= options.maxConcurrent) {
        throw new SvcError(
          'Unavailable',
          `All ${options.maxConcurrent} places for attempts are taken; try again later.`,
        )
      }
      const stopping = new AbortController()
      const entry: Entry = {
        spec,
        state: { phase: 'Pending' },
        attempt: undefined,
        stop: undefined,
        stopping,
        finished: Promise.resolve(),
      }
      entries.set(name, entry)
      entry.finished = carryOut(entry)
    },
    observe: async (key) => {
      const entry = entries.get(nameEntry(key))
      if (entry === undefined) return { phase: 'Missing' }
      const { state, attempt } = entry
      if ((state.phase !== 'Succeeded' && state.phase !== 'Failed') || attempt?.readOutput === undefined) return state
      return { ...state, output: await attempt.readOutput() }
    },
    remove: async (key) => {
      const entry = entries.get(nameEntry(key))
      if (entry !== undefined) await dropEntry(entry)
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    capacity: () => Math.max(0, options.maxConcurrent - countRunning()),
    close: async () => {
      isClosed = true
      // What an engine that went away still holds is removed at the next start.
      await Promise.allSettled([...entries.values()].map(dropEntry))
      await runner.close()
    },
    status: async () => ({ ...(await runner.status()), running: countRunning() }),
  }
}
