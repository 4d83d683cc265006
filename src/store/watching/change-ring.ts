// The most recent changes, in memory: watches read them, and lists use them to undo what came after their snapshot.
import type { Kind } from '../../contract/kinds/index.ts'
import type { ResourceKey, WatchEvent } from '../../ports/resources/resources.ts'

export type Change = {
  version: number
  type: WatchEvent<unknown>['type']
  kind: Kind
  namespace: string
  name: string
  /** The object's position in creation order, from `formatCreated`. */
  created: string
  /** JSON of the object after the change; for a removed one, its last state. */
  object: string
  /** JSON of the object before the change; absent when the change created it. */
  before?: string
}

/** Changes of one kind, in one namespace or all. */
export type Scope = { kind: Kind; namespace?: string | undefined }

export type RingLimits = {
  /** The most changes to remember. */
  changes: number
  /** The most characters of JSON to remember. */
  characters: number
}

/** A position in the stream of changes of one scope. */
export interface Follower {
  /** The next change; undefined when all have been read; `lost` when it is no longer remembered. */
  take(): Change | 'lost' | undefined
  /** Resolves when there is something to take, or when the follower is closed. */
  wait(): Promise<void>
  isClosed(): boolean
  close(): void
}

export interface ChangeRing {
  /** Version of the last published change. */
  head(): number
  publish(change: Change): void
  /** The last change of an object, which holds its current state; undefined when it is not remembered. */
  findLast(kind: Kind, key: ResourceKey): Change | undefined
  /** Whether every change after the version is remembered. */
  remembers(version: number): boolean
  /** Changes of the scope after the version, oldest first; undefined when some of them are no longer remembered. */
  listSince(version: number, scope: Scope): Change[] | undefined
  /** Follows the changes after the version; undefined when some of them are no longer remembered. */
  follow(scope: Scope, version: number): Follower | undefined
  /** Ends every follower. */
  close(): void
}

type Entry = Follower & { scope: Scope; offer(sequence: number): void }

export const defaultRingLimits: RingLimits = { changes: 4096, characters: 8_388_608 }

function measureChange(change: Change): number {
  return change.object.length + (change.before?.length ?? 0)
}

function isWithin(scope: Scope, change: Change): boolean {
  return change.kind === scope.kind && (scope.namespace === undefined || change.namespace === scope.namespace)
}

function formatKey(kind: Kind, { namespace, name }: ResourceKey): string {
  return `${kind}/${namespace}/${name}`
}

/** The remembered changes, numbered without gaps; the oldest are forgotten beyond the limits. */
function createMemory(limits: RingLimits) {
  const changes = new Map<number, Change>()
  const lastOf = new Map<string, Change>()
  let first = 0
  let end = 0
  let characters = 0

  function dropOldest(): number {
    const oldest = changes.get(first)
    changes.delete(first)
    first += 1
    if (oldest === undefined) return 0
    characters -= measureChange(oldest)
    const key = formatKey(oldest.kind, oldest)
    if (lastOf.get(key) === oldest) lastOf.delete(key)
    return oldest.version
  }

  return {
    first: () => first,
    end: () => end,
    at: (sequence: number) => changes.get(sequence),
    lastOf: (kind: Kind, key: ResourceKey) => lastOf.get(formatKey(kind, key)),
    /** Adds a change; returns the version of the newest one that was forgotten for it. */
    add(change: Change): number | undefined {
      changes.set(end, change)
      lastOf.set(formatKey(change.kind, change), change)
      end += 1
      characters += measureChange(change)
      let forgotten: number | undefined
      while (end - first > limits.changes || (characters > limits.characters && end > first)) forgotten = dropOldest()
      return forgotten
    },
    /** Sequence number of the first change after the version. */
    findAfter(version: number): number {
      let low = first
      let high = end
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        if ((changes.get(middle)?.version ?? 0) > version) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

type Memory = ReturnType<typeof createMemory>

function findWithin(memory: Memory, scope: Scope, start: number): number | undefined {
  for (let sequence = start; sequence < memory.end(); sequence += 1) {
    const change = memory.at(sequence)
    if (change !== undefined && isWithin(scope, change)) return sequence
  }
  return undefined
}

function createFollower(memory: Memory, scope: Scope, start: number): Entry {
  // Counts only the scope's own changes, so that other scopes cannot push a quiet follower out of the ring.
  let pending = findWithin(memory, scope, start)
  let closed = false
  let wake: (() => void) | undefined
  return {
    scope,
    take() {
      if (pending === undefined) return undefined
      const change = pending < memory.first() ? undefined : memory.at(pending)
      if (change === undefined) return 'lost'
      pending = findWithin(memory, scope, pending + 1)
      return change
    },
    wait: () =>
      new Promise((resolve) => {
        if (pending !== undefined || closed) resolve()
        else wake = resolve
      }),
    offer(sequence) {
      pending ??= sequence
      wake?.()
      wake = undefined
    },
    isClosed: () => closed,
    close() {
      closed = true
      wake?.()
    },
  }
}

/** `version` is the store's when it was opened: nothing before it is remembered. */
export function createChangeRing(version: number, limits: RingLimits = defaultRingLimits): ChangeRing {
  const memory = createMemory(limits)
  const followers = new Set<Entry>()
  let newest = version
  /** Everything after this version is remembered. */
  let floor = version

  return {
    head: () => newest,
    publish(change) {
      newest = change.version
      floor = memory.add(change) ?? floor
      for (const follower of followers) {
        if (isWithin(follower.scope, change)) follower.offer(memory.end() - 1)
      }
    },
    findLast: (kind, key) => memory.lastOf(kind, key),
    remembers: (after) => after >= floor,
    listSince(after, scope) {
      if (after < floor) return undefined
      const found: Change[] = []
      for (let sequence = memory.findAfter(after); sequence < memory.end(); sequence += 1) {
        const change = memory.at(sequence)
        if (change !== undefined && isWithin(scope, change)) found.push(change)
      }
      return found
    },
    follow(scope, after) {
      if (after < floor || after > newest) return undefined
      const follower = createFollower(memory, scope, memory.findAfter(after))
      followers.add(follower)
      const { close } = follower
      follower.close = () => {
        followers.delete(follower)
        close()
      }
      return follower
    },
    close() {
      for (const follower of [...followers]) follower.close()
    },
  }
}
