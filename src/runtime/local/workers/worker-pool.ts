// Keeps a few idle workers, so that a task starts in milliseconds. Each one serves one task.
import { type Backoff, delayMs } from '../../../lib/backoff.ts'
import { type Clock, type Ids, monotonicMs } from '../../../lib/clock.ts'
import type { LaunchedLimits } from './worker-launcher.ts'
import type { WorkerProcess } from './worker-process.ts'

export type WorkerPoolOptions = {
  launch: (id: string, limits?: LaunchedLimits) => Promise<WorkerProcess>
  clock: Clock
  ids: Ids
  /** Whether an idle worker can be limited to these values. */
  canServe: (limits: LaunchedLimits) => boolean
  /** Prefix of worker ids. */
  prefix: string
  /** Idle workers after the first task, and after a burst. */
  idle?: { usual: number; burst: number }
  /** After this long without a task no worker stays idle. */
  idleMs?: number
}

export type IdleWorker = { pid: number; memoryBytes: number | undefined }

export type WorkerPool = {
  /** Starts one for the first task. */
  prepare(): void
  /** A worker for one task: an idle one, or a new one. Rejects when none can be started. */
  take(limits?: LaunchedLimits): Promise<WorkerProcess>
  /** The idle workers, for the status of the service. */
  listIdle(): Promise<IdleWorker[]>
  /** Ends the idle ones. Those taken belong to the taker. */
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

type Sizes = { usual: number; burst: number; idleMs: number }

type Pool = {
  options: WorkerPoolOptions
  sizes: Sizes
  state: PoolState
  closing: AbortController
  /** Ends the wait for a quiet minute when a task arrives. */
  quiet: AbortController | undefined
  /** What `close` waits for. */
  pending: Set<Promise<void>>
}

const burstMs = 10_000
/** Starting a worker occupies a processor for a while, which the attempt that has just started needs itself. */
const refillMs = 1000
const backoff: Backoff = { firstMs: 500, maxMs: 30_000 }

/**
 * The target number of idle workers: none before preparation and after a quiet minute, more after tasks that found
 * none.
 */
export function countWanted(state: PoolState, now: number, sizes: Sizes): number {
  if (state.isClosed || state.lastTakenAt === undefined || now - state.lastTakenAt >= sizes.idleMs) return 0
  const isBurst = state.lastMissAt !== undefined && now - state.lastMissAt < burstMs
  return isBurst ? sizes.burst : sizes.usual
}

function countWantedNow({ state, options, sizes }: Pool): number {
  return countWanted(state, monotonicMs(options.clock), sizes)
}

/** Runs in the background. Only an abort makes this work fail. */
function runAside(pool: Pool, work: Promise<void>): void {
  const settled: Promise<void> = work.catch(() => undefined).then(() => void pool.pending.delete(settled))
  pool.pending.add(settled)
}

async function backOff({ state, options, closing }: Pool): Promise<void> {
  state.failures++
  await options.clock.sleep(delayMs(backoff, state.failures, options.ids.random()), closing.signal)
}

/** Lasts as long as the worker, even once it is taken; `close` does not wait for it. */
async function watchWaiting(pool: Pool, worker: WorkerProcess): Promise<void> {
  await worker.settled
  if (worker.isReady()) pool.state.failures = 0
  await worker.ended
  const index = pool.state.waiting.indexOf(worker)
  if (index < 0) return
  pool.state.waiting.splice(index, 1)
  await backOff(pool)
  refill(pool)
}

async function addWaiting(pool: Pool): Promise<void> {
  const { state, options } = pool
  state.launching++
  try {
    const worker = await options.launch(options.ids.next(options.prefix))
    state.launching--
    state.waiting.push(worker)
    watchWaiting(pool, worker).catch(() => undefined)
  } catch {
    state.launching--
    await backOff(pool)
  }
  refill(pool)
}

async function shrink(pool: Pool): Promise<void> {
  const surplus = pool.state.waiting.splice(countWantedNow(pool))
  await Promise.all(
    surplus.map(async (worker) => {
      await worker.kill()
      await worker.released
    }),
  )
}

function refill(pool: Pool): void {
  const { state } = pool
  if (state.waiting.length > countWantedNow(pool)) runAside(pool, shrink(pool))
  const missing = countWantedNow(pool) - state.waiting.length - state.launching
  if (missing > 0 && !state.isClosed) runAside(pool, addWaiting(pool))
}

async function shrinkLater(pool: Pool): Promise<void> {
  pool.quiet?.abort()
  pool.quiet = new AbortController()
  await pool.options.clock.sleep(pool.sizes.idleMs, AbortSignal.any([pool.quiet.signal, pool.closing.signal]))
  await shrink(pool)
}

/** Once the attempt has ended, or is well under way. */
async function refillAfter(pool: Pool, taken: WorkerProcess): Promise<void> {
  await Promise.race([taken.released, pool.options.clock.sleep(refillMs, pool.closing.signal)])
  refill(pool)
}

async function takeWorker(pool: Pool, limits: LaunchedLimits | undefined): Promise<WorkerProcess> {
  const { state, options } = pool
  const now = monotonicMs(options.clock)
  state.lastTakenAt = now
  const isSpecial = limits !== undefined && !options.canServe(limits)
  const ready = state.waiting.findIndex((worker) => worker.isReady())
  const [worker] = isSpecial ? [] : state.waiting.splice(Math.max(0, ready), 1)
  if (worker === undefined && !isSpecial) state.lastMissAt = now
  runAside(pool, shrinkLater(pool))
  const taken = worker ?? (await options.launch(options.ids.next(options.prefix), limits))
  runAside(pool, refillAfter(pool, taken))
  return taken
}

async function closePool(pool: Pool): Promise<void> {
  pool.state.isClosed = true
  pool.closing.abort()
  await shrink(pool)
  while (pool.pending.size > 0) await Promise.all(pool.pending)
  await shrink(pool)
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const state: PoolState = {
    waiting: [],
    launching: 0,
    lastTakenAt: undefined,
    lastMissAt: undefined,
    failures: 0,
    isClosed: false,
  }
  const sizes = { usual: 1, burst: 2, ...options.idle, idleMs: options.idleMs ?? 60_000 }
  const pool: Pool = { options, sizes, state, closing: new AbortController(), quiet: undefined, pending: new Set() }
  return {
    prepare: () => {
      state.lastTakenAt = monotonicMs(options.clock)
      runAside(pool, shrinkLater(pool))
      refill(pool)
    },
    take: (limits) => takeWorker(pool, limits),
    listIdle: () =>
      Promise.all(
        state.waiting.map(async (worker) => ({ pid: worker.pid ?? 0, memoryBytes: await worker.readMemory() })),
      ),
    close: () => closePool(pool),
  }
}
