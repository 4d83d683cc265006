// A signal that follows others until it is released, and can be aborted by itself.

export type LinkedSignal = {
  signal: AbortSignal
  abort(reason: unknown): void
  /** The others are followed no longer: they may outlive it by far. */
  release(): void
}

/**
 * `AbortSignal.any` does the same, but costs more than a step of the tool loop, and keeps what listens to it in a table
 * that lives as long as the process (Node 24).
 */
export function followSignals(...parents: AbortSignal[]): LinkedSignal {
  const own = new AbortController()
  const followers = parents.map((parent) => {
    const follow = () => own.abort(parent.reason)
    if (parent.aborted) follow()
    else parent.addEventListener('abort', follow, { once: true })
    return () => parent.removeEventListener('abort', follow)
  })
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release() {
      for (const stop of followers) stop()
    },
  }
}
