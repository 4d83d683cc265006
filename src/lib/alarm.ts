// A wait that ends as soon as something happened, also when that was before the wait.

export type Alarm = {
  wake(): void
  /** Resolves at once when `wake` was called since the last wait or the signal has aborted, otherwise when that happens. */
  wait(): Promise<void>
}

export function createAlarm(signal: AbortSignal): Alarm {
  let isRung = false
  let ring = () => {}
  const wake = () => {
    isRung = true
    ring()
  }
  signal.addEventListener('abort', wake, { once: true })
  return {
    wake,
    async wait() {
      if (!isRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          ring = resolve
        })
      }
      isRung = false
    },
  }
}
