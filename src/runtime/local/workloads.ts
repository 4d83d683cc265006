// The Workloads port on one machine: attempts, their states, their deadlines and their ends.
import type { LogStream } from '../../contract/api/tasks/log-marks.ts'
import type { AttemptIsolation } from '../../contract/kinds/tasks/execution.ts'
import type { AdapterFailure } from '../../contract/kinds/tasks/failures.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { AttemptKey, WorkloadSpec, WorkloadState, Workloads } from '../../ports/tasks/workloads.ts'
import type { AttemptEnd } from '../attempts/end.ts'
import { type RunningAttempt, StartRefused } from './attempt.ts'
import { countStartable, isExhaustion } from './descriptors.ts'
import { type AttemptRunner, type AttemptRunnerOptions, createAttemptRunner, type RunnerStatus } from './runner.ts'

export type EmbeddedWorkloadsOptions = AttemptRunnerOptions & {
  /** The most concurrent attempts that have a process of their own. */
  maxConcurrent: number
  /** From TERM to KILL; 10 s. */
  graceMs?: number
  /** Consumes output lines; a slow store slows the program down, so that the memory does not fill. */
  onLog: (key: AttemptKey, lines: string[], stream: LogStream) => Promise<void> | void
}

export type EmbeddedWorkloads = Workloads & {
  /** For the service's status: sandbox, limits, runners, running attempts by whether they share one. */
  status(): Promise<RunnerStatus & Record<IsolationMode, number>>
}

type IsolationMode = AttemptIsolation['mode']

type Stop = { reason: AdapterFailure; message: string }

type Entry = {
  /** Not what it is given: that holds keys and prompts, and is dropped once it is handed over. */
  subject: Pick<WorkloadSpec, 'key' | 'namespace' | 'taskName'>
  mode: IsolationMode
  state: WorkloadState
  attempt: RunningAttempt | undefined
  /** Why it was told to end; the first reason stays. */
  stop: Stop | undefined
  stopping: AbortController
  /** Resolves when it has ended, for any reason. */
  finished: Promise<void>
}

function nameEntry(key: AttemptKey): string {
  return `${key.taskUid}/${key.attempt}`
}

function isOver(state: WorkloadState): boolean {
  return state.phase === 'Succeeded' || state.phase === 'Failed'
}

/** The state after the end. A requested stop is the reason, whatever the program did. */
function judgeEnd(entry: Entry, end: AttemptEnd, finishedAt: Date): WorkloadState {
  const startedAt = entry.state.phase === 'Running' ? entry.state.startedAt : undefined
  const started = startedAt === undefined ? {} : { startedAt }
  const exitCode = end.ok || end.exitCode === undefined ? {} : { exitCode: end.exitCode }
  if (entry.stop !== undefined) return { phase: 'Failed', ...entry.stop, ...exitCode, ...started, finishedAt }
  if (end.ok) return { phase: 'Succeeded', startedAt: startedAt ?? finishedAt, finishedAt }
  const { ok: _, ...failure } = end
  // It did nothing yet: it is repeated for free, when others have given back what it needs.
  if (failure.reason === 'StartFailed' && isExhaustion(failure.message)) failure.reason = 'Stopped'
  return { phase: 'Failed', ...failure, ...started, finishedAt }
}

function describeStartError(error: unknown): AttemptEnd {
  if (error instanceof StartRefused) return { ok: false, reason: error.reason, message: error.message }
  return { ok: false, reason: 'StartFailed', message: `The attempt could not be started: ${messageOf(error)}` }
}

/** As far as descriptors go; one may always run, or nothing would ever give any back. */
function countByDescriptors({ counts }: Table, mode: IsolationMode): number {
  const isEmpty = counts.own.running + counts.shared.running === 0
  return Math.max(isEmpty ? 1 : 0, countStartable({ starting: counts[mode].starting, mode }))
}

function limitOf({ options }: Table, mode: IsolationMode): number {
  const { count = 0, slots = 0 } = options.runners ?? {}
  return mode === 'own' ? options.maxConcurrent : count * slots
}

/** None on a full disk. */
function countFree(table: Table, mode: IsolationMode): number {
  if (!table.runner.hasRoom()) return 0
  const free = limitOf(table, mode) - table.counts[mode].running
  return Math.max(0, Math.min(free, countByDescriptors(table, mode)))
}

type Table = {
  options: EmbeddedWorkloadsOptions
  runner: AttemptRunner
  entries: Map<string, Entry>
  /** Those that have not ended, and among them those that have not begun: asked for with every task that waits. */
  counts: Record<IsolationMode, { running: number; starting: number }>
  listeners: Set<Parameters<Workloads['onChange']>[0]>
  isClosed: boolean
}

function setState(table: Table, entry: Entry, state: WorkloadState): void {
  const count = table.counts[entry.mode]
  if (entry.state.phase === 'Pending' && state.phase !== 'Pending') count.starting -= 1
  if (!isOver(entry.state) && isOver(state)) count.running -= 1
  entry.state = state
  for (const listener of table.listeners) listener({ ...entry.subject })
}

/** TERM, and KILL if it has not ended after the grace period. */
async function endAttempt({ options }: Table, attempt: RunningAttempt): Promise<void> {
  const over = new AbortController()
  const ended = attempt.ended.then(() => over.abort())
  await attempt.terminate()
  await options.clock.sleep(options.graceMs ?? 10_000, over.signal).then(attempt.kill, () => undefined)
  await ended
}

function stopEntry(entry: Entry, stop: Stop): void {
  if (isOver(entry.state)) return
  entry.stop ??= stop
  entry.stopping.abort()
}

type Started = { starting: Promise<RunningAttempt>; deadlineSeconds: number | undefined }

async function watchDeadline(
  table: Table,
  entry: Entry,
  { deadlineSeconds, over }: Pick<Started, 'deadlineSeconds'> & { over: AbortSignal },
): Promise<void> {
  if (deadlineSeconds === undefined) return
  await table.options.clock.sleep(deadlineSeconds * 1000, over)
  const message = `The attempt ran longer than its limit of ${deadlineSeconds} s.`
  stopEntry(entry, { reason: 'DeadlineExceeded', message })
}

/** Whoever waits for the end has only its promise, so that nothing keeps the spec until then. */
async function startAttempt(table: Table, entry: Entry, spec: WorkloadSpec): Promise<RunningAttempt> {
  const { signal } = entry.stopping
  const { onLog, clock } = table.options
  const attempt = await table.runner.start(spec, (lines, stream) => onLog(entry.subject.key, lines, stream), signal)
  entry.attempt = attempt
  setState(table, entry, { phase: 'Running', startedAt: clock.now() })
  onAbort(signal, () => void endAttempt(table, attempt).catch(() => attempt.kill()))
  return attempt
}

async function followToEnd(table: Table, entry: Entry, { starting, deadlineSeconds }: Started): Promise<void> {
  const over = new AbortController()
  watchDeadline(table, entry, { deadlineSeconds, over: over.signal }).catch(() => undefined)
  const end = await starting.then(({ ended }) => ended).catch(describeStartError)
  over.abort()
  setState(table, entry, judgeEnd(entry, end, table.options.clock.now()))
}

function addEntry(table: Table, spec: WorkloadSpec): void {
  const { key, namespace, taskName, limits, isolation } = spec
  const mode = isolation?.mode ?? 'own'
  const max = limitOf(table, mode)
  if (table.isClosed) {
    throw new SvcError('Unavailable', 'The service is stopping; the attempt starts after its next start.')
  }
  const count = table.counts[mode]
  if (count.running >= max) {
    throw new SvcError('Unavailable', `As many attempts as allowed (${max}) are running; try again later.`)
  }
  if (countByDescriptors(table, mode) === 0) {
    throw new SvcError(
      'Unavailable',
      'The service has too many files and connections open to start anything; raise its limit (ulimit -n).',
    )
  }
  if (!table.runner.hasRoom()) {
    throw new SvcError('Unavailable', 'The disk has too little free space to start anything; free some space.')
  }
  const entry: Entry = {
    subject: { key, namespace, taskName },
    mode,
    state: { phase: 'Pending' },
    attempt: undefined,
    stop: undefined,
    stopping: new AbortController(),
    finished: Promise.resolve(),
  }
  table.entries.set(nameEntry(key), entry)
  count.running += 1
  count.starting += 1
  const starting = startAttempt(table, entry, spec)
  entry.finished = followToEnd(table, entry, { starting, deadlineSeconds: limits.deadlineSeconds })
}

async function observeEntry(entry: Entry | undefined): Promise<WorkloadState> {
  if (entry === undefined) return { phase: 'Missing' }
  const { state, attempt } = entry
  if ((state.phase !== 'Succeeded' && state.phase !== 'Failed') || attempt?.readOutput === undefined) return state
  return { ...state, output: await attempt.readOutput() }
}

async function dropEntry(table: Table, entry: Entry): Promise<void> {
  stopEntry(entry, { reason: 'Stopped', message: 'The attempt was stopped.' })
  await entry.finished
  await entry.attempt?.release()
  const name = nameEntry(entry.subject.key)
  if (table.entries.get(name) === entry) table.entries.delete(name)
}

async function closeTable(table: Table): Promise<void> {
  table.isClosed = true
  // What an unreachable engine still runs is removed at the next start.
  const dropped = Promise.allSettled([...table.entries.values()].map((entry) => dropEntry(table, entry)))
  await Promise.all([dropped, table.runner.close()])
}

export function createEmbeddedWorkloads(options: EmbeddedWorkloadsOptions): EmbeddedWorkloads {
  const runner = createAttemptRunner(options)
  const none = () => ({ running: 0, starting: 0 })
  const counts = { own: none(), shared: none() }
  const table: Table = { options, runner, entries: new Map(), counts, listeners: new Set(), isClosed: false }
  const find = (key: AttemptKey) => table.entries.get(nameEntry(key))
  return {
    ensure: async (spec) => {
      if (find(spec.key) === undefined) addEntry(table, spec)
    },
    observe: (key) => observeEntry(find(key)),
    async *readLeftFiles(key) {
      const files = find(key)?.attempt?.readLeftFiles?.()
      if (files !== undefined) yield* files
    },
    remove: async (key) => {
      const entry = find(key)
      if (entry !== undefined) await dropEntry(table, entry)
    },
    onChange: (listener) => {
      table.listeners.add(listener)
      return () => void table.listeners.delete(listener)
    },
    capacity: (mode = 'own') => countFree(table, mode),
    close: () => closeTable(table),
    status: async () => {
      const { own, shared } = table.counts
      return { ...(await runner.status()), own: own.running, shared: shared.running }
    },
  }
}
