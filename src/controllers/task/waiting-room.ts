// Who waits for something that is told of: the end of a session's lock, or the making of a missing reference.
import { compareStart, type StartRank } from '../../rules/start-order.ts'

export type WaitingRoom = {
  /** Notes that the task waits for it. */
  wait(thing: string, key: string, rank: StartRank): void
  /** The tasks that waited for the thing, in the order in which tasks start; they no longer do. */
  call(thing: string): string[]
  /** The task that is next to have the thing, which one alone can have; it goes on waiting until it looks again. */
  next(thing: string): string | undefined
  /** Whether a task that waits for the thing starts before one of this rank. */
  hasEarlier(thing: string, rank: StartRank): boolean
  leave(key: string): void
  reset(): void
}

export function createWaitingRoom(): WaitingRoom {
  const rooms = new Map<string, Map<string, StartRank>>()
  const places = new Map<string, string>()

  function leave(key: string): void {
    const thing = places.get(key)
    if (thing === undefined) return
    places.delete(key)
    const room = rooms.get(thing)
    room?.delete(key)
    if (room?.size === 0) rooms.delete(thing)
  }

  const listWaiting = (thing: string) => [...(rooms.get(thing) ?? [])].sort(([, a], [, b]) => compareStart(a, b))

  return {
    wait(thing, key, rank) {
      leave(key)
      places.set(key, thing)
      const room = rooms.get(thing) ?? new Map<string, StartRank>()
      rooms.set(thing, room.set(key, rank))
    },
    call(thing) {
      const keys = listWaiting(thing).map(([key]) => key)
      for (const key of keys) leave(key)
      return keys
    },
    next: (thing) => listWaiting(thing)[0]?.[0],
    hasEarlier: (thing, rank) => [...(rooms.get(thing)?.values() ?? [])].some((other) => compareStart(other, rank) < 0),
    leave,
    reset() {
      rooms.clear()
      places.clear()
    },
  }
}

/** The one room of all tasks with a missing reference: whatever appears, each looks again. */
export const missingReferences = 'references'

export function nameSessionRoom(session: { namespace: string; name: string }): string {
  return `session:${session.namespace}/${session.name}`
}
