// Handles Ctrl-C for a command.

export type Interrupts = {
  /** While `work` runs, Ctrl-C aborts its signal; the result is then undefined. */
  interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>
  /** Stops handling Ctrl-C. */
  release(): void
}

const interruptedCode = 130
/** One Ctrl-C may arrive twice: from the terminal, and from the program that started this one. */
const sameKeyMs = 300

export function handleInterrupts(now: () => Date): Interrupts {
  let running: AbortController | undefined
  let last = 0
  const onInterrupt = () => {
    const elapsed = now().getTime() - last
    last = now().getTime()
    if (running && !running.signal.aborted) running.abort()
    else if (elapsed > sameKeyMs) process.exit(interruptedCode)
  }
  process.on('SIGINT', onInterrupt)
  return {
    release: () => void process.removeListener('SIGINT', onInterrupt),
    async interruptible(work) {
      const own = new AbortController()
      running = own
      try {
        return await work(own.signal)
      } catch (error) {
        if (own.signal.aborted) return undefined
        throw error
      } finally {
        running = undefined
      }
    },
  }
}
