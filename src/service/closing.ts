// Stops things in the reverse of the order in which they were started, each once, whatever fails.

export type Closing = {
  /** Adds what is to be done when all that was added later is done. */
  add(close: () => Promise<unknown> | unknown): void
  /** Rejects with the first failure, after everything was tried. */
  run(): Promise<void>
}

export function createClosing(): Closing {
  const steps: (() => Promise<unknown> | unknown)[] = []
  return {
    add: (close) => void steps.push(close),
    async run() {
      const failures: unknown[] = []
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
