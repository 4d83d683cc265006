// The tasks that wait for something: the release of a session, or the creation of a missing reference.
import { compareStart, type StartRank } from '../../rules/tasks/start-order.ts'

export type Waiters = {
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

export function createWaiters(): Waiters {
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
