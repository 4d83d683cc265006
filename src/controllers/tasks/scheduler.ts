// Decides which waiting tasks may start, and counts those that run. Rebuilt from the store at each start. One ordered queue per namespace
// and coordinator, so that a limit delays only its own group (TASK-040); among equal priority namespaces take turns.
import type { AttemptIsolation } from '../../contract/kinds/tasks/execution.ts'
import { compareStart, type KnownTask, type StartRank } from '../../rules/tasks/attention.ts'
import { createHeap, type Heap } from '../engine/heap.ts'

type IsolationMode = AttemptIsolation['mode']

/** Groups of tasks that are counted together. */
type CountGroup = { namespace: string; siblings?: string | undefined }

type RunningCounts = {
  enter(group: CountGroup): void
  leave(group: CountGroup): void
  isNamespaceFull(namespace: string): boolean
  isSiblingLimitReached(siblings: string | undefined, limit: number | undefined): boolean
  clear(): void
}

function keysOf({ namespace, siblings }: CountGroup): string[] {
  return siblings === undefined ? [`n:${namespace}`] : [`n:${namespace}`, `s:${siblings}`]
}

/** `namespaceLimit` 0 means no limit. */
function createRunningCounts(namespaceLimit: number): RunningCounts {
  const counts = new Map<string, number>()
  const countOf = (key: string) => counts.get(key) ?? 0

  function change(key: string, by: 1 | -1): void {
    const next = countOf(key) + by
    if (next > 0) counts.set(key, next)
    else counts.delete(key)
  }

  return {
    enter: (group) => keysOf(group).forEach((key) => void change(key, 1)),
    leave: (group) => keysOf(group).forEach((key) => void change(key, -1)),
    isNamespaceFull: (namespace) => namespaceLimit > 0 && countOf(`n:${namespace}`) >= namespaceLimit,
    isSiblingLimitReached: (siblings, limit) =>
      siblings !== undefined && limit !== undefined && countOf(`s:${siblings}`) >= limit,
    clear: () => counts.clear(),
  }
}

export type WaitingTask = CountGroup & {
  key: string
  uid: string
  rank: StartRank
  generation: number
  /** The most running children of the same coordinator. */
  siblingLimit?: number | undefined
  mode: IsolationMode
}

type GroupQueue = {
  id: string
  heap: Heap<WaitingTask>
  counted: CountGroup
  siblingLimit: number | undefined
  mode: IsolationMode
}

type StartQueue = {
  get(key: string): WaitingTask | undefined
  enter(task: WaitingTask): void
  withdraw(key: string): void
  /** The first task of all groups that may run one more; it stays in the queue. */
  first(hasRoomFor: (mode: IsolationMode) => boolean): WaitingTask | undefined
  /** It starts: the next of its namespace comes after the first of each other. */
  start(task: WaitingTask): void
  size(): number
  clear(): void
}

function makeGroupQueue(id: string, { namespace, siblings, siblingLimit, mode }: WaitingTask): GroupQueue {
  const heap = createHeap<WaitingTask>((a, b) => compareStart(a.rank, b.rank))
  return { id, heap, counted: { namespace, siblings }, siblingLimit, mode }
}

function createStartQueue(counts: RunningCounts): StartQueue {
  const groups = new Map<string, GroupQueue>()
  const waiting = new Map<string, WaitingTask>()
  /** When each namespace had its last turn; 0 where it has waited for none. */
  const turns = new Map<string, number>()
  let turn = 0

  function comesBefore(a: WaitingTask, b: WaitingTask): boolean {
    const byTurn = (turns.get(a.namespace) ?? 0) - (turns.get(b.namespace) ?? 0)
    const isTurn = byTurn !== 0 && a.rank.priority === b.rank.priority
    return (isTurn ? byTurn : compareStart(a.rank, b.rank)) < 0
  }

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
      const id = `${task.namespace}/${task.siblings ?? ''}/${task.mode}`
      const group = groups.get(id) ?? makeGroupQueue(id, task)
      group.siblingLimit = task.siblingLimit
      groups.set(id, group)
      waiting.set(task.key, task)
      group.heap.push(task)
    },
    withdraw: (key) => void waiting.delete(key),
    first(hasRoomFor) {
      const open = [...groups.values()].filter((group) => hasRoom(group) && hasRoomFor(group.mode))
      const heads = open.map(headOf)
      return heads.reduce((best, head) => {
        if (head === undefined || best === undefined) return head ?? best
        return comesBefore(head, best) ? head : best
      }, undefined)
    },
    start({ key, namespace }) {
      turn += 1
      waiting.delete(key)
      if (waiting.size === 0) turns.clear()
      else turns.set(namespace, turn)
    },
    size: () => waiting.size,
    clear() {
      groups.clear()
      waiting.clear()
      turns.clear()
    },
  }
}

type BlockedBy = 'Capacity' | 'NamespaceLimit' | 'SiblingLimit'

type Bounds = {
  /** How many more attempts can start that share a process, or have one of their own. */
  capacity(mode: IsolationMode): number
  /** Running tasks; 0: no limit. */
  limit: number
}

type SchedulerOptions = Bounds & {
  /** Running tasks of a namespace; 0: no limit. */
  namespaceLimit: number
  /** Called with a task that may start now. */
  onGrant(key: string): void
}

type Running = CountGroup & {
  uid: string
  attempt: number
  mode?: IsolationMode
  /** It waits for quota of a queue of the cluster, which alone decides when it runs: it occupies nothing meanwhile. */
  isBlocked?: boolean
}

export type Scheduler = {
  reset(): void
  /** Starts granting; running tasks must already be known. */
  open(): void
  /** Grants starts while there is capacity. */
  pump(): void
  /** Requests a start. True when the task may start now; otherwise `onGrant` follows in its turn. */
  offer(task: WaitingTask): boolean
  /** Queues a task that was found waiting, so that it is granted in its turn; does nothing for a known one. */
  enlist(task: WaitingTask): void
  blockedBy(task: WaitingTask): BlockedBy
  /** Reports that a granted task was announced; until `setStarted` it still occupies a free worker. */
  setStarting(key: string, run: Running): void
  setStarted(key: string): void
  /** Adds a task that was found running or blocked, or has become so. */
  adopt(key: string, run: Running): void
  /** It neither runs nor waits any more; others may start. */
  release(key: string): void
  /** Forgets exactly this object, not a later one of the same name. */
  releaseObject(key: string, uid: string): void
  known(key: string, uid: string): KnownTask
}

/** Tasks that were granted a start and tasks that run; both occupy capacity. */
function createOccupants(counts: RunningCounts) {
  const granted = new Map<string, WaitingTask>()
  const running = new Map<string, Running>()
  const starting = new Set<string>()
  const blocked = new Set<string>()
  /** Granted or starting: the workloads do not count them yet. */
  const pending = { shared: 0, own: 0 }

  function setStarted(key: string): void {
    if (starting.delete(key)) pending[running.get(key)?.mode ?? 'own'] -= 1
  }

  function remove(key: string): void {
    setStarted(key)
    const grant = granted.get(key)
    if (grant !== undefined) pending[grant.mode] -= 1
    const wasBlocked = blocked.delete(key)
    for (const map of [granted, running]) {
      const occupant = map.get(key)
      if (occupant !== undefined && !wasBlocked) counts.leave(occupant)
      map.delete(key)
    }
  }

  return {
    granted,
    running,
    blocked,
    pending,
    remove,
    setStarted,
    grant(task: WaitingTask): void {
      granted.set(task.key, task)
      pending[task.mode] += 1
      counts.enter(task)
    },
    run(key: string, run: Running): void {
      remove(key)
      running.set(key, run)
      if (run.isBlocked) blocked.add(key)
      else counts.enter(run)
    },
    setStarting(key: string, run: Running): void {
      this.run(key, run)
      starting.add(key)
      pending[run.mode ?? 'own'] += 1
    },
    clear(): void {
      granted.clear()
      running.clear()
      starting.clear()
      blocked.clear()
      Object.assign(pending, { shared: 0, own: 0 })
    },
  }
}

function isSameWish(a: WaitingTask | undefined, b: WaitingTask): boolean {
  return a?.uid === b.uid && a.generation === b.generation && a.siblingLimit === b.siblingLimit && a.mode === b.mode
}

function describeKnown(uid: string, run: Running | undefined, queued: WaitingTask | undefined): KnownTask {
  return {
    liveAttempt: run?.uid === uid ? run.attempt : undefined,
    queuedGeneration: queued?.uid === uid ? queued.generation : undefined,
  }
}

function describeBlock(counts: RunningCounts, { namespace, siblings, siblingLimit }: WaitingTask): BlockedBy {
  if (counts.isNamespaceFull(namespace)) return 'NamespaceLimit'
  return counts.isSiblingLimitReached(siblings, siblingLimit) ? 'SiblingLimit' : 'Capacity'
}

type Occupants = ReturnType<typeof createOccupants>

type Room = Bounds & { mode: IsolationMode }

/** A task counts as running from its grant on, although the workloads only know it once it is started. */
function hasRoom({ granted, running, blocked, pending }: Occupants, { limit, capacity, mode }: Room): boolean {
  const isBelowLimit = limit === 0 || granted.size + running.size - blocked.size < limit
  return isBelowLimit && pending[mode] < capacity(mode)
}

export function createScheduler({ namespaceLimit, onGrant, ...bounds }: SchedulerOptions): Scheduler {
  const counts = createRunningCounts(namespaceLimit)
  const queue = createStartQueue(counts)
  const occupants = createOccupants(counts)
  const { granted, running, blocked } = occupants
  const find = (key: string) => running.get(key) ?? granted.get(key) ?? queue.get(key)
  let isOpen = false

  function pump(caller?: string): void {
    while (isOpen && queue.size() > 0) {
      const next = queue.first((mode) => hasRoom(occupants, { ...bounds, mode }))
      if (next === undefined) return
      queue.start(next)
      occupants.grant(next)
      if (next.key !== caller) onGrant(next.key)
    }
  }

  function withdraw(key: string): void {
    queue.withdraw(key)
    occupants.remove(key)
  }

  function release(key: string): void {
    withdraw(key)
    pump()
  }

  return {
    reset() {
      for (const part of [queue, occupants, counts]) part.clear()
      isOpen = false
    },
    open() {
      isOpen = true
      pump()
    },
    pump: () => pump(),
    offer(task) {
      const { key } = task
      if (granted.get(key)?.uid === task.uid) return true
      if (!isSameWish(queue.get(key), task)) {
        withdraw(key)
        queue.enter(task)
      }
      pump(key)
      return granted.has(key)
    },
    enlist(task) {
      if (find(task.key)?.uid !== task.uid) queue.enter(task)
      pump()
    },
    blockedBy: (task) => describeBlock(counts, task),
    setStarting: (key, run) => occupants.setStarting(key, run),
    setStarted: (key) => occupants.setStarted(key),
    adopt(key, run) {
      const { uid, isBlocked = false } = run
      if (running.get(key)?.uid === uid && blocked.has(key) === isBlocked) return
      withdraw(key)
      occupants.run(key, run)
      if (isBlocked) pump()
    },
    release,
    releaseObject(key, uid) {
      if (find(key)?.uid === uid) release(key)
    },
    known: (key, uid) => describeKnown(uid, running.get(key), queue.get(key) ?? granted.get(key)),
  }
}
