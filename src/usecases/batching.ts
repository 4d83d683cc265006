// Writes what has gathered, a while after the first of it came, until nothing is left: off the path of who added it.
import type { Clock } from '../ports/clock.ts'

export type Batching = {
  clock: Clock
  everyMs: number
  isEmpty(): boolean
  /** Writes what there is; keeps what it could not write, and does not reject. */
  flush(): Promise<void>
}

export type Batches = {
  /** Something was added. */
  wake(): void
  /** Writes what is not written yet; what is added later waits for nobody. */
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
