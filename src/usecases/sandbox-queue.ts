// Sandboxed runs have a bounded number of places: those that find none wait, each caller in turn.
import { SvcError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Sandbox } from '../ports/sandbox.ts'
import { createCounts } from './counts.ts'

type Waiting = { caller: string; enter(): void }

/** Of the time that a run has, this much may go by before it begins. */
const waitingShare = 0.5

function refuse(waitedMs: number): never {
  const message = `no sandbox was free within ${waitedMs / 1000} s: the service runs as much code as it may`
  throw new SvcError('Unavailable', `${message}; try again later, or run less at once`)
}

/** Places that are given to whoever has the fewest; of those, to whoever came first. */
function createPlaces(most: number) {
  const running = createCounts()
  const waiting = new Set<Waiting>()
  let taken = 0
  // One place is kept from whoever has all the others, so that nobody else waits for one caller alone.
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
    /** Resolves with a place, which `leave` gives back; rejects as the signal says, without one. */
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

/** How long it waited, in milliseconds; Unavailable after `longestMs`. */
async function waitFor(
  places: Places,
  { caller, longestMs, clock }: { caller: string; longestMs: number; clock: Clock },
  signal: AbortSignal,
): Promise<number> {
  const since = clock.now().getTime()
  const late = new AbortController()
  const admitted = new AbortController()
  // Whoever is let in at once needs no deadline; one that comes too late aborts nothing.
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

/** The same sandbox with `most` runs at once. What a run waits is taken from its time. */
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
