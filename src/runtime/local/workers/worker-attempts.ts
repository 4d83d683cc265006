// Runs attempts in worker processes: takes one from the pool, hands over the work, describes its end.

import { existsSync } from 'node:fs'
import type { WorkAssignment } from '../../../contract/api/tasks/assignment.ts'
import { messageOf } from '../../../errors.ts'
import type { Clock, Ids } from '../../../lib/clock.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import type { AttemptEnd } from '../../attempts/end.ts'
import { judgeWorkerEnd, type WorkerEnd } from '../../attempts/worker-end.ts'
import type { WorkspaceSize } from '../../folders/size.ts'
import type { AskedSize } from '../../folders/workspaces.ts'
import { type AttemptSink, type CheckoutFolder, type RunningAttempt, StartRefused } from '../attempt.ts'
import {
  findCompileCache,
  type LaunchedLimits,
  launchWorker,
  type WorkerLauncherOptions,
  warmCompileCache,
} from './worker-launcher.ts'
import { createWorkerPool, type IdleWorker } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

export type WorkerAttemptsOptions = {
  launcher: Omit<WorkerLauncherOptions, 'compileCache'>
  /** Folder of compile caches; without it every worker compiles again. */
  cacheFolder: string | undefined
  clock: Clock
  ids: Ids
  /** Prefix of worker ids, and therefore of their folders and control groups. */
  prefix: string
  idle?: { usual: number; burst: number }
  idleMs?: number
}

const warmingMs = 30_000
/** The cache is not filled while the first attempt needs the processor. */
const warmAfterMs = 1000

export type WorkerAttempt = {
  assignment: WorkAssignment
  limits: WorkloadLimits
  sink: AttemptSink
  checkout?: CheckoutFolder | undefined
}

export type WorkerAttempts = {
  /** Prepares a worker for the first attempt. */
  prepare(): void
  start(attempt: WorkerAttempt): Promise<RunningAttempt>
  /** With the compile cache, if there is one by now. */
  launcher(): Promise<WorkerLauncherOptions>
  listIdle(): Promise<IdleWorker[]>
  close(): Promise<void>
}

function isOfSize({ diskBytes, diskFiles }: AskedSize, { bytes, files }: WorkspaceSize): boolean {
  return (diskBytes ?? bytes) === bytes && (diskFiles ?? files) === files
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
  /** After the first worker has started: it must neither wait for the cache nor compete with filling it. */
  const warmAfter = async (worker: WorkerProcess) => {
    if (cacheFolder === undefined || compileCache !== undefined) return
    await worker.settled
    await Promise.race([worker.ended, clock.sleep(warmAfterMs, closing.signal)]).catch(() => undefined)
    if (closing.signal.aborted) return
    const id = ids.next(`${prefix}-warm`)
    // Without a cache every start takes longer; nothing else changes.
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(warmingMs)])
    const parts = { launcher: launcher(), folder: cacheFolder, id, signal }
    compileCache = await warmCompileCache(parts).catch(() => undefined)
  }
  let found: Promise<void> | undefined
  const findLauncher = async () => {
    found ??= findCache().catch(() => undefined)
    await found
    // Somebody may have removed it: no worker could start with it.
    if (compileCache !== undefined && !existsSync(compileCache)) compileCache = undefined
    return launcher()
  }
  const launch = async (id: string, limits: LaunchedLimits, agentFolders?: readonly string[]) => {
    const worker = await launchWorker({ ...(await findLauncher()), ...(agentFolders && { agentFolders }) }, id, limits)
    warming ??= warmAfter(worker)
    return worker
  }
  const withSize = (size: WorkspaceSize, limits: LaunchedLimits = {}) => ({
    diskBytes: size.bytes,
    diskFiles: size.files,
    ...limits,
  })
  const openPool = (size: WorkspaceSize) =>
    createWorkerPool({
      launch: (id, limits) => launch(id, withSize(size, limits)),
      // The heap and the workspace of an idle worker are fixed; only a control group can limit its memory further.
      canServe: ({ memoryBytes: bytes = options.launcher.memoryBytes, ...wanted }) =>
        isOfSize(wanted, size) &&
        (bytes === options.launcher.memoryBytes ||
          (bytes < options.launcher.memoryBytes && options.launcher.groups.controllers.includes('memory'))),
      clock,
      ids,
      prefix,
      idle: options.idle,
      idleMs: options.idleMs,
    })
  const { workspaces } = options.launcher
  const pools = { usual: openPool(workspaces.size), checkout: openPool(workspaces.checkoutSize) }

  /** A worker that waits already sees no program of an agent. */
  const takeWorker = ({ assignment: { agent }, limits, checkout }: WorkerAttempt): Promise<WorkerProcess> => {
    const { diskBytes, diskFiles, memoryBytes = options.launcher.memoryBytes } = limits
    const wanted = dropUndefined({ diskBytes, diskFiles, memoryBytes })
    const folders = agent?.launch?.folders ?? []
    const [pool, size] =
      checkout === undefined ? [pools.usual, workspaces.size] : [pools.checkout, workspaces.checkoutSize]
    return folders.length === 0 ? pool.take(wanted) : launch(ids.next(prefix), withSize(size, wanted), folders)
  }

  return {
    prepare: pools.usual.prepare,
    start: async (attempt) => {
      const { assignment, limits, sink, checkout } = attempt
      const { memoryBytes = options.launcher.memoryBytes } = limits
      const worker = await takeWorker(attempt).catch((error: unknown) => {
        throw new StartRefused('StartFailed', `The worker could not be started: ${messageOf(error)}`)
      })
      try {
        await checkout?.fill(worker.folder)
        await worker.limit({ memoryBytes, cpu: limits.cpu })
      } catch (error) {
        await worker.kill()
        throw error
      }
      const judge = (end: WorkerEnd) => judgeWorkerEnd(end, memoryBytes)
      let saved: AttemptEnd | undefined
      const save = async (end: WorkerEnd) => {
        saved = await checkout?.finish({ end: judge(end) })
      }
      // Without either, nothing but the worker itself runs in it.
      const leavesMore = checkout !== undefined || assignment.agent !== undefined
      worker.assign(assignment, sink, leavesMore ? save : undefined)
      return {
        ended: worker.ended.then((end) => saved ?? judge(end)),
        terminate: worker.terminate,
        kill: worker.kill,
        release: () => worker.released,
      }
    },
    launcher: findLauncher,
    listIdle: async () => (await Promise.all([pools.usual.listIdle(), pools.checkout.listIdle()])).flat(),
    close: async () => {
      closing.abort()
      await Promise.all([pools.usual.close(), pools.checkout.close()])
      await warming
    },
  }
}
