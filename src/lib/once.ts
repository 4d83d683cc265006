// Work that is done once for all who ask for it, and again only after a failure.

export type Once<T> = {
  (): Promise<T>
  /** The next call does it anew. */
  forget(): void
}

export function once<T>(work: () => Promise<T>): Once<T> {
  let running: Promise<T> | undefined
  const run = () => {
    if (running !== undefined) return running
    const started = work()
    running = started
    started.catch(() => {
      if (running === started) running = undefined
    })
    return started
  }
  const forget = () => {
    running = undefined
  }
  return Object.assign(run, { forget })
}
