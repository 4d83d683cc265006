// Keeps a few workers waiting, so that a task starts in milliseconds. Each serves one task.
import type { Clock, Ids } from '../../../ports/clock.ts'
import type { WorkerProcess } from './worker-process.ts'

export type WorkerPoolOptions = {
  launch: (id: string, limits?: { memoryBytes?: number }) => Promise<WorkerProcess>
  clock: Clock
  ids: Ids
  /** Whether a waiting worker can be held to this memory limit. */
  canServe: (memoryBytes: number) => boolean
  /** Prefix of the ids of workers. */
  prefix: string
  /** Waiting workers after the first task, and after a burst. */
  idle?: { usual: number; burst: number }
  /** Without a task for this long nothing waits any more. */
  idleMs?: number
}

export type IdleWorker = { pid: number; memoryBytes: number | undefined }

export type WorkerPool = {
  /** A worker for one task: one that waits, or a new one. Rejects when none can be started. */
  take(limits?: { memoryBytes?: number }): Promise<WorkerProcess>
  /** Those that wait now, for the status of the service. */
  listIdle(): Promise<IdleWorker[]>
  /** Ends those that wait. Those taken belong to the taker. */
  close(): Promise<void>
}

type PoolState = {
  waiting: WorkerProcess[]
  launching: number
  lastTakenAt: number | undefined
  lastMissAt: number | undefined
  failures: number
  isClosed: boolean
}

const burstMs = 10_000
const longestBackoffMs = 30_000

/** How many should wait: none before the first task and after a quiet minute, more after tasks that found none. */
export function countWanted(
  state: PoolState,
  now: number,
  options: { usual: number; burst: number; idleMs: number },
): number {
  if (state.isClosed || state.lastTakenAt === undefined || now - state.lastTakenAt >= options.idleMs) return 0
  const isBurst = state.lastMissAt !== undefined && now - state.lastMissAt < burstMs
  return isBurst ? options.burst : options.usual
}

async function endWorker(worker: WorkerProcess): Promise<void> {
  await worker.kill()
  await worker.ended
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { launch, clock, ids } = options
  const sizes = { usual: 1, burst: 2, ...options.idle, idleMs: options.idleMs ?? 60_000 }
  const closing = new AbortController()
  const pending = new Set<Promise<void>>()
  const state: PoolState = {
    waiting: [],
    launching: 0,
    lastTakenAt: undefined,
    lastMissAt: undefined,
    failures: 0,
    isClosed: false,
  }

  /** Runs beside everything else; `close` waits for it. Only an abort makes it fail. */
  const runAside = (work: Promise<void>) => {
    const settled = work.catch(() => undefined).then(() => void pending.delete(settled))
    pending.add(settled)
  }
  const wanted = () => countWanted(state, clock.now().getTime(), sizes)

  const backOff = async () => {
    state.failures++
    const ceiling = Math.min(longestBackoffMs, 250 * 2 ** state.failures)
    await clock.sleep(ceiling * (0.5 + ids.random() / 2), closing.signal)
  }
  const watchWaiting = async (worker: WorkerProcess) => {
    await worker.settled
    if (worker.isReady()) state.failures = 0
    await worker.ended
    const index = state.waiting.indexOf(worker)
    if (index < 0) return
    state.waiting.splice(index, 1)
    await backOff()
    refill()
  }
  const addWaiting = async () => {
    state.launching++
    try {
      const worker = await launch(ids.next(options.prefix))
      state.launching--
      state.waiting.push(worker)
      runAside(watchWaiting(worker))
    } catch {
      state.launching--
      await backOff()
    }
    refill()
  }
  function refill(): void {
    if (state.waiting.length > wanted()) runAside(shrink())
    const missing = wanted() - state.waiting.length - state.launching
    if (missing > 0 && !state.isClosed) runAside(addWaiting())
  }
  const shrink = async () => {
    const surplus = state.waiting.splice(wanted())
    await Promise.all(surplus.map(endWorker))
  }
  let quiet: AbortController | undefined
  const shrinkLater = async () => {
    quiet?.abort()
    quiet = new AbortController()
    await clock.sleep(sizes.idleMs, AbortSignal.any([quiet.signal, closing.signal]))
    await shrink()
  }

  return {
    take: async (limits) => {
      const now = clock.now().getTime()
      state.lastTakenAt = now
      const isSpecial = limits?.memoryBytes !== undefined && !options.canServe(limits.memoryBytes)
      const ready = state.waiting.findIndex((worker) => worker.isReady())
      const [worker] = isSpecial ? [] : state.waiting.splice(Math.max(0, ready), 1)
      if (worker === undefined && !isSpecial) state.lastMissAt = now
      runAside(shrinkLater())
      const taken = worker ?? (await launch(ids.next(options.prefix), limits))
      refill()
      return taken
    },
    listIdle: async () =>
      Promise.all(
        state.waiting.map(async (worker) => ({ pid: worker.pid ?? 0, memoryBytes: await worker.readMemory() })),
      ),
    close: async () => {
      state.isClosed = true
      closing.abort()
      await shrink()
      while (pending.size > 0) await Promise.all(pending)
      await shrink()
    },
  }
}
