// Limits concurrent sandboxed runs: runs beyond the limit wait, and callers take turns.
import { SvcError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Sandbox } from '../ports/sandbox.ts'
import { createCounts } from './counts.ts'

type Waiting = { caller: string; enter(): void }

/** The fraction of a run's time limit that may pass before it starts. */
const waitingShare = 0.5

function refuse(waitedMs: number): never {
  const message = `no sandbox was free within ${waitedMs / 1000} s: the service already runs as many as it can`
  throw new SvcError('Unavailable', `${message}; try again later, or run less at once`)
}

/** Slots go to the caller with the fewest, and among equals to the one who came first. */
function createPlaces(most: number) {
  const running = createCounts()
  const waiting = new Set<Waiting>()
  let taken = 0
  // The last slot is withheld from a caller who holds all the others, so that others do not have to wait for one
  // caller.
  const mostOfOne = Math.max(1, most - 1)

  function findNext(): Waiting | undefined {
    let next: Waiting | undefined
    for (const one of waiting) {
      const isAhead = next === undefined || running.of(one.caller) < running.of(next.caller)
      if (isAhead && running.of(one.caller) < mostOfOne) next = one
    }
    return next
  }

  function count(caller: string, change: 1 | -1): void {
    taken += change
    running.add(caller, change)
  }

  function admit(): void {
    for (let next = findNext(); next !== undefined && taken < most; next = findNext()) {
      waiting.delete(next)
      count(next.caller, 1)
      next.enter()
    }
  }

  return {
    /** Resolves with a slot, which `leave` returns; rejects without one when the signal aborts. */
    async enter(caller: string, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const one = { caller, enter: resolve }
      const giveUp = () => {
        waiting.delete(one)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.add(one)
      admit()
      await promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
    leave(caller: string): void {
      count(caller, -1)
      admit()
    },
  }
}

type Places = ReturnType<typeof createPlaces>

/** How long the run waited, in milliseconds; Unavailable after `longestMs`. */
async function waitFor(
  places: Places,
  { caller, longestMs, clock }: { caller: string; longestMs: number; clock: Clock },
  signal: AbortSignal,
): Promise<number> {
  const since = clock.now().getTime()
  const late = new AbortController()
  const admitted = new AbortController()
  // A run that starts at once needs no deadline; a late deadline aborts nothing.
  clock.sleep(longestMs, AbortSignal.any([signal, admitted.signal])).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    await places.enter(caller, AbortSignal.any([signal, late.signal]))
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) refuse(longestMs)
    throw error
  } finally {
    admitted.abort()
  }
  return Math.max(0, clock.now().getTime() - since)
}

/** The same sandbox with at most `most` concurrent runs. Waiting time counts towards a run's time limit. */
export function queueRuns(sandbox: Sandbox, { most, clock }: { most: number; clock: Clock }): Sandbox {
  const places = createPlaces(most)
  return {
    check: () => sandbox.check(),
    async run(command, signal) {
      const { caller = '', limits } = command
      const longestMs = Math.ceil(limits.timeoutMs * waitingShare)
      const waitedMs = await waitFor(places, { caller, longestMs, clock }, signal)
      try {
        const timeoutMs = Math.max(limits.timeoutMs - waitedMs, longestMs)
        return await sandbox.run({ ...command, limits: { ...limits, timeoutMs } }, signal)
      } finally {
        places.leave(caller)
      }
    },
  }
}
