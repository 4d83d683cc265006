// Attempts that end exactly as a test says: nothing real dies, hangs and gets lost on command.
import type { AdapterFailure, RunFailure, SharedLoss } from '../../src/contract/kinds/tasks/failures.ts'
import { SvcError } from '../../src/errors.ts'
import type {
  AttemptKey,
  LeftFile,
  PendingReason,
  WorkloadSpec,
  WorkloadState,
  Workloads,
} from '../../src/ports/tasks/workloads.ts'

export type ScriptedWorkloads = Workloads & {
  /** Every start there was, in order. */
  started: WorkloadSpec[]
  /** Names of the attempts that run now. */
  running(): string[]
  /** Attempts that were told to end while they ran. */
  stopped: string[]
  setCapacity(count: number): void
  /** Of those that share a process; default: as many as of others. */
  setShared(count: number): void
  /** The next start is refused with this error. */
  refuseNext(error: SvcError): void
  /** What attempts of the task have in their folder for artifacts. */
  leave(taskName: string, files: LeftFile[]): void
  succeed(taskName: string, output?: string): void
  fail(taskName: string, reason?: AdapterFailure, message?: string, cause?: RunFailure): void
  /** The process that the attempt shares is gone. */
  loseShared(taskName: string, loss: SharedLoss): void
  /** The attempt turns out to wait for something, as a pod without a node does. */
  holdUp(taskName: string, reason: PendingReason, message: string): void
  /** What was held up begins now. */
  begin(taskName: string): void
  /** The attempt vanishes as with its node; nobody is told. */
  lose(taskName: string): void
  /** Everything vanishes, as when the service dies. */
  loseAll(): void
  specOf(taskName: string): WorkloadSpec
}

type Entry = { spec: WorkloadSpec; state: WorkloadState }

export function createScriptedWorkloads(now: () => Date): ScriptedWorkloads {
  const entries = new Map<string, Entry>()
  const listeners = new Set<Parameters<Workloads['onChange']>[0]>()
  const started: WorkloadSpec[] = []
  const stopped: string[] = []
  const leftBy = new Map<string, LeftFile[]>()
  let capacity = 100
  let shared: number | undefined
  let refusal: SvcError | undefined

  const idOf = (key: AttemptKey) => `${key.taskUid}/${key.attempt}`
  const isOver = (entry: Entry) => entry.state.phase === 'Succeeded' || entry.state.phase === 'Failed'
  const live = () => [...entries.values()].filter((entry) => !isOver(entry))

  function capacityOf(mode: 'shared' | 'own' = 'own'): number {
    const ofMode = live().filter(({ spec }) => (spec.isolation?.mode ?? 'own') === mode)
    return (mode === 'shared' ? (shared ?? capacity) : capacity) - ofMode.length
  }

  function find(taskName: string): Entry {
    const entry = live().find(({ spec }) => spec.taskName === taskName)
    if (entry === undefined) throw new Error(`no attempt of ${taskName} runs`)
    return entry
  }

  function setState(entry: Entry, state: WorkloadState): void {
    entry.state = state
    const { key, namespace, taskName } = entry.spec
    for (const listener of listeners) listener({ key, namespace, taskName })
  }

  return {
    started,
    stopped,
    running: () => live().map(({ spec }) => spec.taskName),
    setCapacity(count) {
      capacity = count
    },
    setShared(count) {
      shared = count
    },
    refuseNext(error) {
      refusal = error
    },
    leave: (taskName, files) => void leftBy.set(taskName, files),
    succeed(taskName, output) {
      const finished = { startedAt: now(), finishedAt: now() }
      const text = output === undefined ? {} : { output: { text: output, truncated: false } }
      setState(find(taskName), { phase: 'Succeeded', ...finished, ...text })
    },
    fail(taskName, reason = 'ExitCode', message = 'the command ended with exit code 3', cause) {
      const own = cause === undefined ? {} : { cause }
      setState(find(taskName), { phase: 'Failed', reason, ...own, message, finishedAt: now() })
    },
    loseShared: (taskName, loss) =>
      setState(find(taskName), { phase: 'Failed', reason: 'Stopped', message: 'it is gone', loss, finishedAt: now() }),
    holdUp: (taskName, reason, message) => setState(find(taskName), { phase: 'Pending', reason, message }),
    begin: (taskName) => setState(find(taskName), { phase: 'Running', startedAt: now() }),
    lose: (taskName) => void entries.delete(idOf(find(taskName).spec.key)),
    loseAll: () => entries.clear(),
    specOf: (taskName) => find(taskName).spec,
    async ensure(spec) {
      const error = refusal
      refusal = undefined
      if (error !== undefined) throw error
      if (capacityOf(spec.isolation?.mode) <= 0) throw new SvcError('Unavailable', 'all places are taken')
      started.push(spec)
      const entry: Entry = { spec, state: { phase: 'Pending' } }
      entries.set(idOf(spec.key), entry)
      setState(entry, { phase: 'Running', startedAt: now() })
    },
    observe: async (key) => entries.get(idOf(key))?.state ?? { phase: 'Missing' },
    async *readLeftFiles(key) {
      const entry = entries.get(idOf(key))
      if (entry !== undefined) yield* leftBy.get(entry.spec.taskName) ?? []
    },
    async remove(key) {
      const entry = entries.get(idOf(key))
      if (entry !== undefined && !isOver(entry)) stopped.push(entry.spec.taskName)
      entries.delete(idOf(key))
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    capacity: (mode) => Math.max(0, capacityOf(mode)),
    close: async () => undefined,
  }
}
