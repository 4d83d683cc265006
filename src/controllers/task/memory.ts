// What the task controller remembers of tasks between two looks. Made anew from the store at each start.
import type { Scheduler } from './scheduler.ts'
import { createWaiters, type Waiters } from './waiters.ts'

export type TaskMemory = {
  /** Who runs and who may start next. */
  scheduler: Scheduler
  waiters: Waiters
  /** Keys of parents whose children changed since they were looked at. */
  changedParents: Set<string>
  /** All of a task that is gone. */
  forget(key: string): void
  reset(): void
}

export function createTaskMemory(scheduler: Scheduler): TaskMemory {
  const waiters = createWaiters()
  const changedParents = new Set<string>()
  return {
    scheduler,
    waiters,
    changedParents,
    forget(key) {
      waiters.leave(key)
      changedParents.delete(key)
      scheduler.release(key)
    },
    reset() {
      scheduler.reset()
      waiters.reset()
      changedParents.clear()
    },
  }
}
