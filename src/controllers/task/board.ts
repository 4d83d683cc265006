// What the controller keeps in mind: who runs and who may start next. Made anew from the store at each start.
import type { Known } from '../../rules/task-attention.ts'
import { type Candidate, createLanes } from './lanes.ts'
import { createPlaces, type Place, type Places } from './places.ts'

type BlockedBy = 'Capacity' | 'NamespaceLimit' | 'SiblingLimit'

type Bounds = {
  /** How many more attempts can start. */
  capacity(): number
  /** Running tasks; 0: no limit. */
  limit: number
}

type BoardOptions = Bounds & {
  /** Running tasks of a namespace; 0: no limit. */
  namespaceLimit: number
  /** Told of a task that may start now. */
  onGrant(key: string): void
}

export type Running = Place & { uid: string; attempt: number }

export type Board = {
  reset(): void
  /** Starts granting; before it, who runs already must be known. */
  open(): void
  /** Grants what there is room for now. */
  pump(): void
  /** Asks for a start. True when it may start now; otherwise `onGrant` follows in its turn. */
  offer(candidate: Candidate): boolean
  /** Puts a task that was found waiting into its place, so that it is granted in its turn; one that is known is left. */
  enlist(candidate: Candidate): void
  blockedBy(candidate: Candidate): BlockedBy
  /** A granted task is announced; until `setStarted` its place among the free workers is still taken. */
  setStarting(key: string, run: Running): void
  setStarted(key: string): void
  /** A task that was found running. */
  adopt(key: string, run: Running): void
  /** It no longer runs nor waits; others may start. */
  forget(key: string): void
  /** Forgets it if it is this very object, not a later one of the same name. */
  forgetObject(key: string, uid: string): void
  known(key: string, uid: string): Known
}

/** Who was granted a start and who runs; both occupy their place. */
function createOccupants(places: Places) {
  const granted = new Map<string, Candidate>()
  const running = new Map<string, Running>()
  const starting = new Set<string>()

  function remove(key: string): void {
    for (const map of [granted, running]) {
      const occupant = map.get(key)
      if (occupant !== undefined) places.leave(occupant)
      map.delete(key)
    }
    starting.delete(key)
  }

  return {
    granted,
    running,
    starting,
    remove,
    grant(candidate: Candidate): void {
      granted.set(candidate.key, candidate)
      places.enter(candidate)
    },
    run(key: string, run: Running): void {
      remove(key)
      running.set(key, run)
      places.enter(run)
    },
    clear(): void {
      granted.clear()
      running.clear()
      starting.clear()
    },
  }
}

function isSameWish(a: Candidate | undefined, b: Candidate): boolean {
  return a?.uid === b.uid && a.generation === b.generation && a.siblingLimit === b.siblingLimit
}

function describeKnown(uid: string, run: Running | undefined, queued: Candidate | undefined): Known {
  return {
    liveAttempt: run?.uid === uid ? run.attempt : undefined,
    queuedGeneration: queued?.uid === uid ? queued.generation : undefined,
  }
}

function describeBlock(places: Places, { namespace, siblings, siblingLimit }: Candidate): BlockedBy {
  if (places.isNamespaceFull(namespace)) return 'NamespaceLimit'
  return places.isSiblingLimitReached(siblings, siblingLimit) ? 'SiblingLimit' : 'Capacity'
}

type Occupants = ReturnType<typeof createOccupants>

/** Places are taken from the grant on, though what runs them knows of them only once they are started. */
function hasRoom({ granted, running, starting }: Occupants, { limit, capacity }: Bounds): boolean {
  const isBelowLimit = limit === 0 || granted.size + running.size < limit
  return isBelowLimit && granted.size + starting.size < capacity()
}

export function createBoard({ namespaceLimit, onGrant, ...bounds }: BoardOptions): Board {
  const places = createPlaces(namespaceLimit)
  const lanes = createLanes(places)
  const occupants = createOccupants(places)
  const { granted, running, starting } = occupants
  const find = (key: string) => running.get(key) ?? granted.get(key) ?? lanes.get(key)
  let isOpen = false

  function pump(caller?: string): void {
    while (isOpen && lanes.size() > 0 && hasRoom(occupants, bounds)) {
      const next = lanes.first()
      if (next === undefined) return
      lanes.withdraw(next.key)
      occupants.grant(next)
      if (next.key !== caller) onGrant(next.key)
    }
  }

  function withdraw(key: string): void {
    lanes.withdraw(key)
    occupants.remove(key)
  }

  function forget(key: string): void {
    withdraw(key)
    pump()
  }

  return {
    reset() {
      for (const part of [lanes, occupants, places]) part.clear()
      isOpen = false
    },
    open() {
      isOpen = true
      pump()
    },
    pump: () => pump(),
    offer(candidate) {
      const { key } = candidate
      if (granted.get(key)?.uid === candidate.uid) return true
      if (!isSameWish(lanes.get(key), candidate)) {
        withdraw(key)
        lanes.enter(candidate)
      }
      pump(key)
      return granted.has(key)
    },
    enlist(candidate) {
      if (find(candidate.key)?.uid !== candidate.uid) lanes.enter(candidate)
      pump()
    },
    blockedBy: (candidate) => describeBlock(places, candidate),
    setStarting(key, run) {
      occupants.run(key, run)
      starting.add(key)
    },
    setStarted: (key) => void starting.delete(key),
    adopt(key, run) {
      if (running.get(key)?.uid === run.uid) return
      withdraw(key)
      occupants.run(key, run)
    },
    forget,
    forgetObject(key, uid) {
      if (find(key)?.uid === uid) forget(key)
    },
    known: (key, uid) => describeKnown(uid, running.get(key), lanes.get(key) ?? granted.get(key)),
  }
}
