// Runs attempts in worker processes: takes one from the pool, hands over the work, words its end.
import type { WorkAssignment } from '../../../contract/api/assignment.ts'
import { readRunFailure } from '../../../contract/failures.ts'
import { messageOf } from '../../../errors.ts'
import type { Clock, Ids } from '../../../ports/clock.ts'
import type { WorkloadLimits } from '../../../ports/workloads.ts'
import {
  type AttemptEnd,
  type AttemptSink,
  describeEnd,
  describeMemory,
  type RunningAttempt,
  StartRefused,
} from '../attempt.ts'
import { isSandboxFailure } from '../confinement/local-process.ts'
import { findCompileCache, warmCompileCache } from './compile-cache.ts'
import { launchWorker, type WorkerLauncherOptions } from './worker-launcher.ts'
import { createWorkerPool, type IdleWorker } from './worker-pool.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

export type WorkerAttemptsOptions = {
  launcher: Omit<WorkerLauncherOptions, 'compileCache'>
  /** Folder of compile caches; without it every worker compiles anew. */
  cacheFolder: string | undefined
  clock: Clock
  ids: Ids
  /** Prefix of worker ids, thus of their folders and control groups. */
  prefix: string
  idle?: { usual: number; burst: number }
  idleMs?: number
}

const warmingMs = 30_000
/** The cache is not made while the first attempt needs the processor. */
const warmAfterMs = 1000

export type WorkerAttempt = { assignment: WorkAssignment; limits: WorkloadLimits; sink: AttemptSink }

export type WorkerAttempts = {
  /** Lets a worker wait for the first attempt. */
  prepare(): void
  start(attempt: WorkerAttempt): Promise<RunningAttempt>
  listIdle(): Promise<IdleWorker[]>
  close(): Promise<void>
}

/** An end that the worker itself announced: by its outcome, or by exit code 0 or 1 with it. */
function readAnnouncedEnd({ exit, outcome, endedHere = false }: WorkerEnd): AttemptEnd | undefined {
  if (!endedHere && exit.code !== 0 && exit.code !== 1) return undefined
  if (outcome?.ok === false) {
    const message = outcome.message ?? outcome.reason ?? 'The worker gave no reason.'
    // A worker is not trusted: what is no known word is no cause.
    const cause = readRunFailure(outcome.reason)
    return { ok: false, reason: 'ExitCode', ...(cause && { cause }), message, exitCode: 1 }
  }
  return endedHere || exit.code === 0 ? { ok: true } : undefined
}

/** Of a stack trace the line that says what is wrong, else the last line. */
function pickErrorLine(errorTail: string): string {
  const lines = errorTail.split('\n')
  return (lines.find((line) => /^(\w*Error|bwrap)\b/.test(line)) ?? lines.at(-1) ?? '').slice(0, 500)
}

/** The words of a worker that ended before it could take work. */
function readStartFailure({ exit, errorTail, wasReady }: WorkerEnd): string | undefined {
  const neverBegan = !wasReady && exit.signal === null
  if (!neverBegan && !isSandboxFailure(exit, errorTail)) return undefined
  return exit.startError ?? (errorTail === '' ? `exit code ${exit.code}` : pickErrorLine(errorTail))
}

/** What a worker's end means for its attempt. */
export function judgeWorkerEnd(end: WorkerEnd, memoryBytes: number): AttemptEnd {
  const announced = readAnnouncedEnd(end)
  if (announced !== undefined) return announced
  const failure = readStartFailure(end)
  if (failure !== undefined) {
    return { ok: false, reason: 'StartFailed', message: `The worker could not be started: ${failure}` }
  }
  const outOfMemory = end.wasOutOfMemory ? describeMemory(memoryBytes) : undefined
  const { exit, errorTail, outOfDisk } = end
  return describeEnd({ exit, what: 'The worker', errorTail, outOfMemory, outOfDisk })
}

export function createWorkerAttempts(options: WorkerAttemptsOptions): WorkerAttempts {
  const { clock, ids, prefix } = options
  let compileCache: string | undefined
  const launcher = (): WorkerLauncherOptions => ({ ...options.launcher, compileCache })
  const { cacheFolder } = options
  const findCache = async () => {
    if (cacheFolder !== undefined) compileCache = await findCompileCache({ launcher: launcher(), folder: cacheFolder })
  }
  const closing = new AbortController()
  let warming: Promise<void> | undefined
  /** After the first worker has started: it must not wait for the cache, nor share the processor with making it. */
  const warmAfter = async (worker: WorkerProcess) => {
    if (cacheFolder === undefined || compileCache !== undefined) return
    await worker.settled
    await Promise.race([worker.ended, clock.sleep(warmAfterMs, closing.signal)])
    const id = ids.next(`${prefix}-warm`)
    // A cache that cannot be made costs time at each start, nothing else.
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(warmingMs)])
    const parts = { launcher: launcher(), folder: cacheFolder, id, signal }
    compileCache = await warmCompileCache(parts).catch(() => undefined)
  }
  let found: Promise<void> | undefined
  const pool = createWorkerPool({
    launch: async (id, limits) => {
      found ??= findCache().catch(() => undefined)
      await found
      const worker = await launchWorker(launcher(), id, limits)
      warming ??= warmAfter(worker)
      return worker
    },
    // The heap and the workspace of a waiting worker are fixed; only a control group can hold the first to less.
    canServe: ({ memoryBytes: bytes = options.launcher.memoryBytes, diskBytes }) =>
      (diskBytes === undefined || diskBytes === options.launcher.workspaces.size.bytes) &&
      (bytes === options.launcher.memoryBytes ||
        (bytes < options.launcher.memoryBytes && options.launcher.groups.controllers.includes('memory'))),
    clock,
    ids,
    prefix,
    ...(options.idle === undefined ? {} : { idle: options.idle }),
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  })

  return {
    prepare: pool.prepare,
    start: async ({ assignment, limits, sink }) => {
      const { diskBytes, memoryBytes = options.launcher.memoryBytes } = limits
      const worker = await pool
        .take({ ...(diskBytes === undefined ? {} : { diskBytes }), memoryBytes })
        .catch((error: unknown) => {
          throw new StartRefused('StartFailed', `The worker could not be started: ${messageOf(error)}`)
        })
      await worker.limit({ memoryBytes, ...(limits.cpu === undefined ? {} : { cpu: limits.cpu }) })
      worker.assign(assignment, sink)
      return {
        ended: worker.ended.then((end) => judgeWorkerEnd(end, memoryBytes)),
        terminate: worker.terminate,
        kill: worker.kill,
        // Folder and control group go with the process.
        release: async () => undefined,
      }
    },
    listIdle: pool.listIdle,
    close: async () => {
      closing.abort()
      await pool.close()
      await warming
    },
  }
}
