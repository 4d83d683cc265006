// A signal that follows others until it is released, and can be aborted by itself; and waiting no longer than a signal allows.

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

/**
 * Waits for the work, or for the abort: then with undefined, and what becomes of the work is nobody's matter any more.
 * Whatever hangs, a deadline ends the wait for it.
 */
export function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
