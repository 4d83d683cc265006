// What to do when a signal aborts. No listener is left behind on a signal, which may outlive its listeners by far.

/**
 * Calls the listener once: when the signal aborts, or at once when it has already, which `addEventListener` would never tell.
 * Returns what removes the listener.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}

/** Resolves when the signal aborts; for a signal that ends with what waits for it. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, resolve))
}

/** Waits for the work, but rejects with the signal's reason when that aborts first; what becomes of the work is then ignored. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return settleFirst(work, signal, (_resolve, reject) => reject(signal.reason))
}

/**
 * Waits for the work or for the abort. After an abort it returns undefined, and the outcome of the work is ignored.
 * A deadline therefore ends every wait, even if the work hangs.
 */
export function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return settleFirst<T | undefined>(work, signal, (resolve) => resolve(undefined))
}

type Settle<T> = (resolve: (value: T) => void, reject: (reason: unknown) => void) => void

function settleFirst<T>(work: Promise<T>, signal: AbortSignal, settle: Settle<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const remove = onAbort(signal, () => settle(resolve, reject))
    work.then(resolve, reject).finally(remove)
  })
}

export type LinkedSignal = {
  signal: AbortSignal
  abort(reason: unknown): void
  /** Stops following the others, which may outlive it by far. */
  release(): void
}

/**
 * A signal that follows others until it is released and can also be aborted itself. Like `AbortSignal.any`, which costs more than
 * a step of the tool loop and keeps its listeners in a table that lives as long as the process (Node 24).
 */
export function followSignals(...parents: AbortSignal[]): LinkedSignal {
  const own = new AbortController()
  const followers = parents.map((parent) => onAbort(parent, () => own.abort(parent.reason)))
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release() {
      for (const stop of followers) stop()
    },
  }
}
