// Who waits to start: an ordered lane for each namespace and coordinator, so that a limit holds back only its own.
import { compareStart, type StartRank } from '../../rules/start-order.ts'
import { createHeap, type Heap } from '../engine/heap.ts'
import type { Place, Places } from './places.ts'

export type Candidate = Place & {
  key: string
  uid: string
  rank: StartRank
  generation: number
  /** Running children of the same coordinator, at most. */
  siblingLimit?: number | undefined
}

type Lane = { id: string; heap: Heap<Candidate>; place: Place; siblingLimit: number | undefined }

type Lanes = {
  get(key: string): Candidate | undefined
  enter(candidate: Candidate): void
  withdraw(key: string): void
  /** The first of all whose place has room; it stays where it is. */
  first(): Candidate | undefined
  size(): number
  clear(): void
}

function makeLane(id: string, { namespace, siblings, siblingLimit }: Candidate): Lane {
  const heap = createHeap<Candidate>((a, b) => compareStart(a.rank, b.rank))
  return { id, heap, place: { namespace, siblings }, siblingLimit }
}

export function createLanes(places: Places): Lanes {
  const lanes = new Map<string, Lane>()
  const waiting = new Map<string, Candidate>()

  /** The first of a lane; entries that were withdrawn are dropped on the way, and the lane when it is empty. */
  function headOf(lane: Lane): Candidate | undefined {
    for (let head = lane.heap.peek(); head !== undefined; head = lane.heap.peek()) {
      if (waiting.get(head.key) === head) return head
      lane.heap.pop()
    }
    lanes.delete(lane.id)
    return undefined
  }

  function hasRoom({ place, siblingLimit }: Lane): boolean {
    return !places.isNamespaceFull(place.namespace) && !places.isSiblingLimitReached(place.siblings, siblingLimit)
  }

  return {
    get: (key) => waiting.get(key),
    enter(candidate) {
      const id = `${candidate.namespace}/${candidate.siblings ?? ''}`
      const lane = lanes.get(id) ?? makeLane(id, candidate)
      lane.siblingLimit = candidate.siblingLimit
      lanes.set(id, lane)
      waiting.set(candidate.key, candidate)
      lane.heap.push(candidate)
    },
    withdraw: (key) => void waiting.delete(key),
    first() {
      const heads = [...lanes.values()].filter(hasRoom).map(headOf)
      return heads.reduce((best, head) => {
        if (head === undefined || best === undefined) return head ?? best
        return compareStart(head.rank, best.rank) < 0 ? head : best
      }, undefined)
    },
    size: () => waiting.size,
    clear() {
      lanes.clear()
      waiting.clear()
    },
  }
}
