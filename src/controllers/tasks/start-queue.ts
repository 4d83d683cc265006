// The tasks that wait to start: one ordered queue per namespace and coordinator, so that a limit only delays its own
// group.
import { compareStart, type StartRank } from '../../rules/tasks/start-order.ts'
import { createHeap, type Heap } from '../engine/heap.ts'
import type { CountGroup, RunningCounts } from './running-counts.ts'

export type WaitingTask = CountGroup & {
  key: string
  uid: string
  rank: StartRank
  generation: number
  /** The most running children of the same coordinator. */
  siblingLimit?: number | undefined
}

type GroupQueue = { id: string; heap: Heap<WaitingTask>; counted: CountGroup; siblingLimit: number | undefined }

type StartQueue = {
  get(key: string): WaitingTask | undefined
  enter(task: WaitingTask): void
  withdraw(key: string): void
  /** The first task of all groups that may run one more; it stays in the queue. */
  first(): WaitingTask | undefined
  size(): number
  clear(): void
}

function makeGroupQueue(id: string, { namespace, siblings, siblingLimit }: WaitingTask): GroupQueue {
  const heap = createHeap<WaitingTask>((a, b) => compareStart(a.rank, b.rank))
  return { id, heap, counted: { namespace, siblings }, siblingLimit }
}

export function createStartQueue(counts: RunningCounts): StartQueue {
  const groups = new Map<string, GroupQueue>()
  const waiting = new Map<string, WaitingTask>()

  /** The first task of a group's queue; drops withdrawn entries on the way, and an empty queue. */
  function headOf(group: GroupQueue): WaitingTask | undefined {
    for (let head = group.heap.peek(); head !== undefined; head = group.heap.peek()) {
      if (waiting.get(head.key) === head) return head
      group.heap.pop()
    }
    groups.delete(group.id)
    return undefined
  }

  function hasRoom({ counted, siblingLimit }: GroupQueue): boolean {
    return !counts.isNamespaceFull(counted.namespace) && !counts.isSiblingLimitReached(counted.siblings, siblingLimit)
  }

  return {
    get: (key) => waiting.get(key),
    enter(task) {
      const id = `${task.namespace}/${task.siblings ?? ''}`
      const group = groups.get(id) ?? makeGroupQueue(id, task)
      group.siblingLimit = task.siblingLimit
      groups.set(id, group)
      waiting.set(task.key, task)
      group.heap.push(task)
    },
    withdraw: (key) => void waiting.delete(key),
    first() {
      const heads = [...groups.values()].filter(hasRoom).map(headOf)
      return heads.reduce((best, head) => {
        if (head === undefined || best === undefined) return head ?? best
        return compareStart(head.rank, best.rank) < 0 ? head : best
      }, undefined)
    },
    size: () => waiting.size,
    clear() {
      groups.clear()
      waiting.clear()
    },
  }
}
