// What the task controller remembers about tasks between two looks. Rebuilt from the store at each start.
import type { ProbedAttempts, ToldApprovals } from './parked.ts'
import type { Scheduler } from './scheduler.ts'
import { createWaiters, type Waiters } from './waiters.ts'

export type TaskMemory = {
  /** Which tasks run and which may start next. */
  scheduler: Scheduler
  waiters: Waiters
  /** Keys of parents whose children have changed since the last look. */
  changedParents: Set<string>
  /** Parked tasks that wait for something outside. */
  probed: ProbedAttempts
  /** What receivers of callbacks were told that parked tasks ask for. */
  told: Map<string, ToldApprovals>
  /** Forgets everything about a deleted task. */
  forget(key: string): void
  reset(): void
}

export function createTaskMemory(scheduler: Scheduler): TaskMemory {
  const waiters = createWaiters()
  const changedParents = new Set<string>()
  const probed: ProbedAttempts = new Map()
  const told = new Map<string, ToldApprovals>()
  return {
    scheduler,
    waiters,
    changedParents,
    probed,
    told,
    forget(key) {
      waiters.leave(key)
      changedParents.delete(key)
      probed.delete(key)
      told.delete(key)
      scheduler.release(key)
    },
    reset() {
      scheduler.reset()
      waiters.reset()
      changedParents.clear()
    },
  }
}
