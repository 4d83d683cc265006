// A semaphore that is fair between its holders: whoever finds no free permit waits, and holders take turns.
import { onAbort } from './abort.ts'
import { createCounts } from './counts.ts'

export type FairSemaphore = {
  /** Resolves with a permit, which `release` returns; rejects without one when the signal aborts. */
  acquire(holder: string, signal: AbortSignal): Promise<void>
  release(holder: string): void
}

type Waiting = { holder: string; resolve(): void }

/** A permit goes to the waiting holder of the fewest, and among equals to whoever came first. */
export function createFairSemaphore(max: number): FairSemaphore {
  const running = createCounts()
  const waiting = new Set<Waiting>()
  let taken = 0
  // The last permit is withheld from a holder of all the others, so that nobody has to wait for one holder alone.
  const maxPerHolder = Math.max(1, max - 1)

  function findNext(): Waiting | undefined {
    let next: Waiting | undefined
    for (const one of waiting) {
      const isAhead = next === undefined || running.of(one.holder) < running.of(next.holder)
      if (isAhead && running.of(one.holder) < maxPerHolder) next = one
    }
    return next
  }

  function count(holder: string, change: 1 | -1): void {
    taken += change
    running.add(holder, change)
  }

  function admit(): void {
    for (let next = findNext(); next !== undefined && taken < max; next = findNext()) {
      waiting.delete(next)
      count(next.holder, 1)
      next.resolve()
    }
  }

  return {
    async acquire(holder: string, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const one = { holder, resolve }
      const abandon = () => {
        waiting.delete(one)
        reject(signal.reason)
      }
      waiting.add(one)
      admit()
      await promise.finally(onAbort(signal, abandon))
    },
    release(holder: string): void {
      count(holder, -1)
      admit()
    },
  }
}
