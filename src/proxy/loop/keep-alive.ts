// Calls back in every pause of a stream, so that nothing between takes it for dead.
import type { Clock } from '../../lib/clock.ts'
import { type Deadline, startDeadline } from '../../llm/call/deadlines.ts'

export type KeepAlive = {
  start(): void
  /** Something was sent: the current pause does not count. */
  touch(): void
  stop(): void
}

/** A pause is `ms` to twice as long. All streams share one timer. A promise of `send` delays the next one. */
export function createKeepAlive(clock: Clock, ms: number, send: () => Promise<void> | undefined): KeepAlive {
  let touched = false
  let isOver = false
  let pause: Deadline | undefined

  function wait(): void {
    touched = false
    if (!isOver) pause = startDeadline(clock, ms, () => void keep())
  }

  async function keep(): Promise<void> {
    if (!touched) await send()
    wait()
  }

  return {
    start: wait,
    touch() {
      touched = true
    },
    stop() {
      isOver = true
      pause?.cancel()
    },
  }
}
