// A durable queue that several processes share: who claims an entry of the store has it until its lease ends, extends the lease while
// it works, and either settles the entry or gives it back to be tried again later. What dies with a process is claimed by another one
// once the lease has run out. (What one process repeats in memory while it leads is the work queue of the controllers.)
import { type Backoff, delayMs } from './backoff.ts'
import type { Clock, Ids } from './clock.ts'
import { createFairSemaphore } from './fair-semaphore.ts'

type Lease = { worker: string; leaseMs: number }

export type LeasedEntry = {
  id: string
  /** How often it was claimed, this time included. */
  attempts: number
}

/** `settle` and `postpone` change nothing, and `extend` gives nothing, when another worker has the entry meanwhile. */
export type LeasedStore<Entry extends LeasedEntry, End, Again> = {
  /** Undefined when there is nothing to claim: it has ended, is not due, or another worker has it. */
  claim(id: string, lease: Lease): Promise<Entry | undefined>
  extend(id: string, lease: Lease): Promise<boolean>
  settle(id: string, worker: string, end: End): Promise<boolean>
  postpone(id: string, worker: string, again: Again & { afterMs: number }): Promise<boolean>
}

export type LeasedQueueOptions<Entry extends LeasedEntry, End, Again> = {
  store: LeasedStore<Entry, End, Again>
  clock: Clock
  ids: Ids
  /** Without an extension for this long another worker may claim the entry. */
  leaseMs: number
  /** Entries handled at the same time by this process. */
  concurrency: number
  backoff: Backoff
  handle(entry: Entry): Promise<End>
  /** What a failure of `handle` leads to: the end of the entry, or another try. */
  judge(error: unknown, entry: Entry): { end: End } | { again: Again }
}

export type LeasedQueue = {
  /**
   * Claims and handles the entry in its owner's turn: of the owners who wait, the one with the fewest entries underway is next, so
   * that none waits for a flood of another. Resolves when that is over, whatever came of it; rejects with errors of the store.
   */
  process(id: string, owner: string): Promise<void>
}

export function createLeasedQueue<Entry extends LeasedEntry, End, Again>(
  options: LeasedQueueOptions<Entry, End, Again>,
): LeasedQueue {
  const { store, clock, ids, leaseMs, backoff, handle, judge } = options
  const turns = createFairSemaphore(options.concurrency)
  const never = new AbortController().signal

  /** Keeps the lease until the function that it returns is called. */
  function keepLease(id: string, worker: string): () => void {
    const ended = new AbortController()
    const extend = async () => {
      while (!ended.signal.aborted) {
        await clock.sleep(leaseMs / 3, ended.signal)
        await store.extend(id, { worker, leaseMs })
      }
    }
    extend().catch(() => undefined)
    return () => ended.abort()
  }

  async function run(entry: Entry, worker: string): Promise<void> {
    const release = keepLease(entry.id, worker)
    try {
      await store.settle(entry.id, worker, await handle(entry))
    } catch (error) {
      const verdict = judge(error, entry)
      if ('end' in verdict) await store.settle(entry.id, worker, verdict.end)
      else {
        const afterMs = delayMs(backoff, entry.attempts, ids.random())
        await store.postpone(entry.id, worker, { ...verdict.again, afterMs })
      }
    } finally {
      release()
    }
  }

  async function runInTurn(id: string, owner: string): Promise<void> {
    await turns.acquire(owner, never)
    try {
      const worker = ids.next()
      const entry = await store.claim(id, { worker, leaseMs })
      if (entry !== undefined) await run(entry, worker)
    } finally {
      turns.release(owner)
    }
  }

  /** An entry that waits for its turn is still due, and is found again and again. */
  const underway = new Map<string, Promise<void>>()

  return {
    process(id, owner) {
      const found = underway.get(id)
      if (found !== undefined) return found
      const own = runInTurn(id, owner).finally(() => underway.delete(id))
      underway.set(id, own)
      return own
    },
  }
}
