// Runs attempts in worker processes: starts one for each, hands over the work, describes its end.
import type { WorkAssignment } from '../../../contract/api/tasks/assignment.ts'
import { messageOf } from '../../../errors.ts'
import type { Ids } from '../../../lib/clock.ts'
import type { WorkloadLimits } from '../../../ports/tasks/workloads.ts'
import type { AttemptEnd } from '../../attempts/end.ts'
import { judgeWorkerEnd, type WorkerEnd } from '../../attempts/worker-end.ts'
import type { Workspaces } from '../../folders/workspaces.ts'
import { type AttemptSink, type CheckoutFolder, type RunningAttempt, StartRefused } from '../attempt.ts'
import type { CachedLauncher } from './compile-cache.ts'
import { launchWorker } from './worker-launcher.ts'
import type { WorkerProcess } from './worker-process.ts'

export type WorkerAttemptsOptions = {
  launcher: CachedLauncher
  workspaces: Pick<Workspaces, 'size' | 'checkoutSize'>
  memoryBytes: number
  ids: Ids
  /** Prefix of worker ids, and therefore of their folders and control groups. */
  prefix: string
}

export type WorkerAttempt = {
  assignment: WorkAssignment
  limits: WorkloadLimits
  sink: AttemptSink
  checkout?: CheckoutFolder | undefined
  /** The way out of the program of an agent. */
  gate?: { socket: string } | undefined
}

async function launch(options: WorkerAttemptsOptions, attempt: WorkerAttempt): Promise<WorkerProcess> {
  const { launcher, workspaces, ids, prefix } = options
  const { assignment, checkout, limits } = attempt
  const { bytes, files } = checkout === undefined ? workspaces.size : workspaces.checkoutSize
  const { diskBytes = bytes, diskFiles = files, memoryBytes = options.memoryBytes } = limits
  const agentFolders = assignment.agent?.launch?.folders ?? []
  const found = { ...(await launcher.find()), agentFolders, gate: attempt.gate }
  const worker = await launchWorker(found, ids.next(prefix), { diskBytes, diskFiles, memoryBytes })
  launcher.fillAfter(worker.settled)
  return worker
}

export async function startWorkerAttempt(
  options: WorkerAttemptsOptions,
  attempt: WorkerAttempt,
): Promise<RunningAttempt> {
  const { assignment, limits, sink, checkout } = attempt
  const { memoryBytes = options.memoryBytes } = limits
  const worker = await launch(options, attempt).catch((error: unknown) => {
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
}
