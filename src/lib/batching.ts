// Writes collected items a short while after the first one arrives, repeating until none are left; callers never wait.
import type { Clock } from './clock.ts'

export type Batching = {
  clock: Clock
  everyMs: number
  isEmpty(): boolean
  /** Writes what is there; keeps what it could not write, and never rejects. */
  flush(): Promise<void>
}

export type Batches = {
  /** Call it when an item was added. */
  wake(): void
  /** Writes what is pending; does not wait for items added later. */
  close(): Promise<void>
}

export function createBatches({ clock, everyMs, isEmpty, flush }: Batching): Batches {
  const closing = new AbortController()
  let isRunning = false

  async function run(): Promise<void> {
    while (!isEmpty()) {
      await clock.sleep(everyMs, closing.signal)
      await flush()
    }
  }

  return {
    wake() {
      if (isRunning) return
      isRunning = true
      run()
        .catch(() => {})
        .finally(() => {
          isRunning = false
        })
    },
    async close() {
      closing.abort()
      await flush()
    },
  }
}
