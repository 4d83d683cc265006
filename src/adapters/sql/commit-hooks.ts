// What runs after a commit.

/** Runs a hook whose failure must not reach the writers: what they wrote is durable. */
export function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
