// Publishes changes, gathered, by a number that rises.

/** `gatherMs`: how long changes are gathered before they are published. */
export function createNotice(gatherMs: () => number) {
  const listeners = new Set<() => void>()
  let version = 0
  let isWaiting = false
  function publish(): void {
    isWaiting = false
    version += 1
    for (const listener of listeners) listener()
  }
  return {
    note(): void {
      if (isWaiting) return
      isWaiting = true
      setTimeout(publish, gatherMs())
    },
    version: () => version,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
