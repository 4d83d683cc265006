// One at a time for each key, in the order in which they came; different keys do not wait for each other.
import { abortable } from './abort.ts'

export type KeyedQueue = {
  /**
   * Runs `work` once all that came before it for this key has settled, however it ended. Who gives up by `signal` while waiting
   * rejects with its reason, and whoever comes after still waits for what is running.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>()

  /** Resolves when all before it has settled; `leave` lets the next one in. */
  function join(key: string): { turn: Promise<void>; leave(): void } {
    const turn = tails.get(key) ?? Promise.resolve()
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    const tail = turn.then(() => left)
    tails.set(key, tail)
    void tail.then(() => tails.get(key) === tail && tails.delete(key))
    return { turn, leave }
  }

  return {
    async run(key, work, signal) {
      const { turn, leave } = join(key)
      try {
        await (signal === undefined ? turn : abortable(turn, signal))
        return await work()
      } finally {
        leave()
      }
    },
  }
}
