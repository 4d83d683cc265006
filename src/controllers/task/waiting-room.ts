// Who waits for something that is told of: the end of a session's lock, or the making of a missing reference.

export type WaitingRoom = {
  /** Notes that the task waits for it. */
  wait(thing: string, key: string): void
  /** The tasks that waited for the thing; they no longer do. */
  call(thing: string): string[]
  leave(key: string): void
  reset(): void
}

export function createWaitingRoom(): WaitingRoom {
  const rooms = new Map<string, Set<string>>()
  const places = new Map<string, string>()

  function leave(key: string): void {
    const thing = places.get(key)
    if (thing === undefined) return
    places.delete(key)
    const room = rooms.get(thing)
    room?.delete(key)
    if (room?.size === 0) rooms.delete(thing)
  }

  return {
    wait(thing, key) {
      leave(key)
      places.set(key, thing)
      const room = rooms.get(thing) ?? new Set()
      rooms.set(thing, room.add(key))
    },
    call(thing) {
      const keys = [...(rooms.get(thing) ?? [])]
      for (const key of keys) leave(key)
      return keys
    },
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
