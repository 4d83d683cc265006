// Stops things in the reverse of the order in which they were started. Each is stopped once, even when others fail.

export type Closing = {
  /** Adds a step, which runs after all steps that are added later. */
  add(close: () => Promise<unknown> | unknown): void
  /** Runs every step, then rejects with the first failure if there was one. */
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
