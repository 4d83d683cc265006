// Attempts that work in git repositories. The service checks out, reads the diff, commits and pushes, as in embedded mode
// (ADR 45); a pod gets the files, and gives them back when its program has ended. No login enters it.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../errors.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { CommandOutput, WorkloadState } from '../../../ports/tasks/workloads.ts'
import { describeLostChanges } from '../../attempts/checkout-changes.ts'
import { type Attempt, openAttemptFolder, podOf } from '../attempts.ts'
import type { Pod } from '../objects.ts'
import { keeperName } from '../objects.ts'
import { awaitsCheckout, hasCheckout } from './containers.ts'
import { fill, forget, keepEnded, keepStopped, type PodCheckoutOptions } from './work.ts'

export type PodCheckouts = {
  /** Begins what is due; the state to report, since an attempt ends only when its changes are stored. */
  settle(attempt: Attempt, state: WorkloadState, after: AfterEnd): WorkloadState
  /** Before it is removed: keeps the diff of an attempt that has not ended, forgets its checkout. */
  release(attempt: Attempt): Promise<void>
  /** Ends what goes on here about it; nothing on the cluster changes. */
  detach(attempt: Attempt): Promise<void>
  /** Removes what attempts left that are not there any more. */
  sweep(isThere: (name: string) => boolean): Promise<void>
}

type AfterEnd = { readOutput(): Promise<CommandOutput | undefined>; look(): void }

/** Somebody waits for it. */
const stopTimeoutMs = 60_000

/** Whether the files of its program can be read, or will be soon: the keeper starts last. */
function findKeeper(pod: Pod): 'running' | 'starting' | undefined {
  const { phase, containerStatuses = [] } = pod.status ?? {}
  if (pod.metadata.deletionTimestamp !== undefined || phase === 'Failed' || phase === 'Succeeded') return undefined
  const { running, terminated } = containerStatuses.find(({ name }) => name === keeperName)?.state ?? {}
  if (terminated !== undefined) return undefined
  return running === undefined ? 'starting' : 'running'
}

function isLost(attempt: Attempt): boolean {
  const pod = podOf(attempt)
  return pod === undefined || findKeeper(pod) === undefined
}

function isEnded({ phase }: WorkloadState): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

/** One thing at a time; the state that it ends with is final. */
function begin(
  attempt: Attempt,
  { look }: AfterEnd,
  work: (signal: AbortSignal) => Promise<WorkloadState | undefined>,
): void {
  const own = openAttemptFolder(attempt)
  if (own.work !== undefined) return
  const { signal } = own.ending
  own.work = work(signal).then((end) => {
    own.work = undefined
    if (signal.aborted) return
    own.end = end
    look()
  })
}

export function createPodCheckouts(options: PodCheckoutOptions): PodCheckouts {
  const fail = (message: string): WorkloadState => {
    return { phase: 'Failed', reason: 'CheckoutFailed', message, finishedAt: options.clock.now() }
  }

  const lose = (): WorkloadState => {
    const message = 'the attempt was lost: its pod is gone, and with it what was changed'
    return { phase: 'Failed', reason: 'Stopped', message, finishedAt: options.clock.now() }
  }

  function beginFilling(attempt: Attempt, after: AfterEnd): void {
    begin(attempt, after, async (signal) => {
      try {
        await fill(options, attempt, signal)
        return undefined
      } catch (error) {
        return isLost(attempt) ? undefined : fail(messageOf(error))
      }
    })
  }

  function beginKeeping(attempt: Attempt, state: WorkloadState, after: AfterEnd): void {
    begin(attempt, after, async (signal) => {
      openAttemptFolder(attempt).isKeeping = true
      try {
        await keepEnded(options, { attempt, state, readOutput: after.readOutput, signal })
        return state
      } catch (error) {
        return isLost(attempt) ? lose() : fail(describeLostChanges(error))
      }
    })
  }

  /** An attempt counts as running while its changes are read; those of a pod that is gone are lost. */
  function settleEnd(attempt: Attempt, state: WorkloadState & { startedAt?: Date }, after: AfterEnd): WorkloadState {
    const pod = podOf(attempt)
    const keeper = pod && findKeeper(pod)
    if (keeper === undefined && !openAttemptFolder(attempt).isKeeping) return state
    if (keeper === 'running') beginKeeping(attempt, state, after)
    return { phase: 'Running', startedAt: state.startedAt ?? options.clock.now() }
  }

  return {
    settle(attempt, state, after) {
      const pod = podOf(attempt)
      if (!attempt.isFollowed || !hasCheckout(pod)) return state
      const own = openAttemptFolder(attempt)
      if (own.end !== undefined) return own.end
      if (awaitsCheckout(pod) && !own.isFilled && !isLost(attempt)) beginFilling(attempt, after)
      return isEnded(state) ? settleEnd(attempt, state, after) : state
    },

    async release(attempt) {
      const pod = podOf(attempt)
      if (!hasCheckout(pod)) return
      const own = openAttemptFolder(attempt)
      own.ending.abort(new Error('the attempt is stopped'))
      await own.work
      // A task that is gone needs no diff.
      if (own.end === undefined && findKeeper(pod) === 'running')
        await keepStopped(options, attempt, AbortSignal.timeout(stopTimeoutMs)).catch(() => undefined)
      await forget(options, attempt).catch(() => undefined)
    },

    async detach(attempt) {
      const own = attempt.folder
      own?.ending.abort(new Error('another replica goes on with the attempt'))
      await own?.work
      attempt.folder = undefined
    },

    async sweep(isThere) {
      const { folder } = options
      for (const name of await readdir(folder).catch(() => [])) {
        if (!isThere(name)) await removeTree(join(folder, name))
      }
    },
  }
}
