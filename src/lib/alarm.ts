// A wait that ends as soon as something happened, also when that was before the wait.
import { onAbort } from './abort.ts'

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
  onAbort(signal, wake)
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
