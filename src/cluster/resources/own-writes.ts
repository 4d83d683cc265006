// The service's own writes that the watch has not reported yet: reads find them at once, and callers can wait until the
// watch has reported them.
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CacheEntry, CacheKey } from './entry.ts'

/** Records a newer state, or that the object of this uid was removed. */
export type OwnWrite = { entry: CacheEntry } | { removed: string }

export type OwnWrites = {
  get(key: CacheKey): OwnWrite | undefined
  /** `head` is the version that the watch has reached: it has reported everything up to that. */
  note(entry: CacheEntry, head: number): void
  noteRemoval(key: CacheKey, uid: string): void
  /** The watch reported the object; returns an own entry of the same version, so that its text is held once. */
  confirm(type: string, entry: CacheEntry): CacheEntry
  /** Everything was listed again at a version, with these objects. */
  confirmAll(version: number, find: (key: CacheKey) => CacheEntry | undefined): void
  /** Creates a test whether the watch has reported everything recorded until now; `head` is how far it is. */
  watchFor(head: () => number): () => boolean
}

/** Removed uids to remember, for answers that arrive after the watch has reported the removal. */
const maxRemovals = 1000

/** Version of a newer state; 0 for a removal, which has none. */
function versionOf(known: OwnWrite | undefined): number {
  return known !== undefined && 'entry' in known ? known.entry.version : 0
}

function entryOf(known: OwnWrite | undefined, otherwise: CacheEntry): CacheEntry {
  return known !== undefined && 'entry' in known ? known.entry : otherwise
}

export function createOwnWrites(): OwnWrites {
  const writes = new Map<CacheKey, OwnWrite>()
  /** Keys by the uid of removals that the watch has not reported yet. */
  const pendingRemovals = new Map<string, CacheKey>()
  const confirmedRemovals = new BoundedMap<string, true>({ max: maxRemovals })
  let lastVersion = 0

  function confirmRemoval(uid: string): void {
    pendingRemovals.delete(uid)
    confirmedRemovals.set(uid, true)
  }

  /** Whether the watch, having reached this version, has reported it. */
  function isConfirmed(known: OwnWrite, version: number): boolean {
    return 'removed' in known ? !pendingRemovals.has(known.removed) : known.entry.version <= version
  }

  return {
    get: (key) => writes.get(key),
    note(entry, head) {
      const isRemoved = pendingRemovals.has(entry.uid) || confirmedRemovals.has(entry.uid)
      if (isRemoved || entry.version <= Math.max(head, versionOf(writes.get(entry.key)))) return
      lastVersion = Math.max(lastVersion, entry.version)
      writes.set(entry.key, { entry })
    },
    noteRemoval(key, uid) {
      if (confirmedRemovals.has(uid)) return
      pendingRemovals.set(uid, key)
      writes.set(key, { removed: uid })
    },
    confirm(type, entry) {
      const known = writes.get(entry.key)
      if (type === 'DELETED') confirmRemoval(entry.uid)
      if (known !== undefined && isConfirmed(known, entry.version)) writes.delete(entry.key)
      return type !== 'DELETED' && versionOf(known) === entry.version ? entryOf(known, entry) : entry
    },
    confirmAll(version, find) {
      // An object that still exists will be reported later; no event comes for the others.
      for (const [uid, key] of pendingRemovals) if (find(key)?.uid !== uid) confirmRemoval(uid)
      for (const [key, known] of writes) if (isConfirmed(known, version)) writes.delete(key)
    },
    watchFor(head) {
      const version = lastVersion
      const uids = [...pendingRemovals.keys()]
      return () => head() >= version && uids.every((uid) => !pendingRemovals.has(uid))
    },
  }
}

type WatchProgress = {
  /** The watch has reported something: waiting callers check again. */
  check(): void
  /** Resolves when the condition holds, when the signal aborts, or after too long. */
  wait(isReached: () => boolean, signal?: AbortSignal): Promise<void>
}

/** As long as the API server itself waits for a future version. */
const maxWaitMs = 3000

export function createWatchProgress(clock: Clock): WatchProgress {
  const waiting = new Set<{ isReached: () => boolean; resolve: () => void }>()

  async function expire(resolve: () => void, signal: AbortSignal): Promise<void> {
    await clock.sleep(maxWaitMs, signal).catch(() => undefined)
    resolve()
  }

  return {
    check() {
      for (const waiter of waiting) if (waiter.isReached()) waiter.resolve()
    },
    async wait(isReached, signal) {
      if (isReached()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { isReached, resolve }
      const done = new AbortController()
      waiting.add(waiter)
      void expire(resolve, signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]))
      await promise
      waiting.delete(waiter)
      done.abort()
    },
  }
}
