// A signal that follows others until it is released and can also be aborted itself; and waiting no longer than a signal
// allows.

export type LinkedSignal = {
  signal: AbortSignal
  abort(reason: unknown): void
  /** Stops following the others, which may outlive it by far. */
  release(): void
}

/**
 * Like `AbortSignal.any`, which costs more than a step of the tool loop and keeps its listeners in a table
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
 * Waits for the work or for the abort. After an abort it returns undefined, and the outcome of the work is ignored.
 * A deadline therefore ends every wait, even if the work hangs.
 */
export function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
