// What the task controller caches about tasks between two looks. Rebuilt from the store at each start.
import type { Clock } from '../../lib/clock.ts'
import { createStopwatches, type Stopwatches } from '../../lib/stopwatch.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import { compareStart, type StartRank } from '../../rules/tasks/attention.ts'
import type { Scheduler } from './scheduler.ts'

type Waiters = {
  /** Records that the task waits for the topic. */
  wait(topic: string, key: string, rank: StartRank): void
  /** Returns and removes the tasks that waited for the topic, in starting order. */
  call(topic: string): string[]
  /** The next task in line for a topic that only one can have; it keeps waiting until it looks again. */
  next(topic: string): string | undefined
  /** Whether a waiting task comes before one of this rank. */
  hasEarlier(topic: string, rank: StartRank): boolean
  leave(key: string): void
  reset(): void
}

function createWaiters(): Waiters {
  const waiting = new Map<string, Map<string, StartRank>>()
  const topics = new Map<string, string>()

  function leave(key: string): void {
    const topic = topics.get(key)
    if (topic === undefined) return
    topics.delete(key)
    const queue = waiting.get(topic)
    queue?.delete(key)
    if (queue?.size === 0) waiting.delete(topic)
  }

  const listWaiting = (topic: string) => [...(waiting.get(topic) ?? [])].sort(([, a], [, b]) => compareStart(a, b))

  return {
    wait(topic, key, rank) {
      leave(key)
      topics.set(key, topic)
      const queue = waiting.get(topic) ?? new Map<string, StartRank>()
      waiting.set(topic, queue.set(key, rank))
    },
    call(topic) {
      const keys = listWaiting(topic).map(([key]) => key)
      for (const key of keys) leave(key)
      return keys
    },
    next: (topic) => listWaiting(topic)[0]?.[0],
    hasEarlier: (topic, rank) =>
      [...(waiting.get(topic)?.values() ?? [])].some((other) => compareStart(other, rank) < 0),
    leave,
    reset() {
      waiting.clear()
      topics.clear()
    },
  }
}

/** The one topic of all tasks with a missing reference: whatever appears, each looks again. */
export const missingReferences = 'references'

export function sessionTopic(session: { namespace: string; name: string }): string {
  return `session:${session.namespace}/${session.name}`
}

export type Probed = AttemptKey & {
  probes: number
  /** When to ask again, in milliseconds of the clock that never goes back. */
  nextAt: number
  /** Calls for which what they wait for has come. */
  arrived: Set<string>
}

/** By the key of the task: of its newest attempt that has parked. */
export type ProbedAttempts = Map<string, Probed>

/** What is known of exactly this attempt. */
export function findProbed(probed: ProbedAttempts, key: string, { taskUid, attempt }: AttemptKey): Probed | undefined {
  const known = probed.get(key)
  return known?.taskUid === taskUid && known.attempt === attempt ? known : undefined
}

type ApprovalNotice = { tries: number; nextAt: number; isDelivered: boolean }

/** What was sent to the receiver of callbacks, by id of the approval. */
export type ApprovalNotices = Map<string, ApprovalNotice>

export type TaskState = {
  /** Which tasks run and which may start next. */
  scheduler: Scheduler
  waiters: Waiters
  /** Keys of parents whose children have changed since the last look. */
  changedParents: Set<string>
  /** Parked tasks that wait for something outside. */
  probed: ProbedAttempts
  /** What was sent to receivers of callbacks of what parked tasks ask for. */
  notices: Map<string, ApprovalNotices>
  /** How long what runs has run. */
  stopwatches: Stopwatches
  /** Forgets everything about a deleted task. */
  forget(key: string): void
  reset(): void
}

export function createTaskState(scheduler: Scheduler, clock: Clock): TaskState {
  const waiters = createWaiters()
  const changedParents = new Set<string>()
  const probed: ProbedAttempts = new Map()
  const notices = new Map<string, ApprovalNotices>()
  return {
    scheduler,
    waiters,
    changedParents,
    probed,
    notices,
    stopwatches: createStopwatches(clock),
    forget(key) {
      waiters.leave(key)
      changedParents.delete(key)
      probed.delete(key)
      notices.delete(key)
      scheduler.release(key)
    },
    reset() {
      scheduler.reset()
      waiters.reset()
      changedParents.clear()
    },
  }
}
