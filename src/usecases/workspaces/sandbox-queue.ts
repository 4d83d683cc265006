// Limits concurrent sandboxed runs: runs beyond the limit wait, and callers take turns.
import { SvcError } from '../../errors.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { createFairSemaphore, type FairSemaphore } from '../../lib/fair-semaphore.ts'
import type { Sandbox } from '../../ports/workspaces/sandbox.ts'

/** The fraction of a run's time limit that may pass before it starts. */
const waitingShare = 0.5

function refuse(waitedMs: number): never {
  const message = `no sandbox was free within ${waitedMs / 1000} s: the service already runs as many as it can`
  throw new SvcError('Unavailable', `${message}; try again later, or run less at once`)
}

/** How long the run waited, in milliseconds; Unavailable after `maxWaitMs`. */
async function waitFor(
  semaphore: FairSemaphore,
  { caller, maxWaitMs, clock }: { caller: string; maxWaitMs: number; clock: Clock },
  signal: AbortSignal,
): Promise<number> {
  const since = monotonicMs(clock)
  const late = new AbortController()
  const admitted = new AbortController()
  // A run that starts at once needs no deadline; a late deadline aborts nothing.
  clock.sleep(maxWaitMs, AbortSignal.any([signal, admitted.signal])).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    await semaphore.acquire(caller, AbortSignal.any([signal, late.signal]))
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) refuse(maxWaitMs)
    throw error
  } finally {
    admitted.abort()
  }
  return Math.max(0, monotonicMs(clock) - since)
}

/** The same sandbox with at most `max` concurrent runs. Waiting time counts towards a run's time limit. */
export function queueRuns(sandbox: Sandbox, { max, clock }: { max: number; clock: Clock }): Sandbox {
  const semaphore = createFairSemaphore(max)
  return {
    check: () => sandbox.check(),
    async run(command, signal) {
      const { caller = '', limits } = command
      const maxWaitMs = Math.ceil(limits.timeoutMs * waitingShare)
      const waitedMs = await waitFor(semaphore, { caller, maxWaitMs, clock }, signal)
      try {
        const timeoutMs = Math.max(limits.timeoutMs - waitedMs, maxWaitMs)
        return await sandbox.run({ ...command, limits: { ...limits, timeoutMs } }, signal)
      } finally {
        semaphore.release(caller)
      }
    },
  }
}
