// One kind as reported by the watch, ahead of that the service's own writes that it has not reported yet, and the
// cached changes, which start over when the API server cannot report what came between.
import type { Kind } from '../../contract/kinds/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import {
  type Change,
  type ChangeRing,
  createChangeRing,
  type Follower,
  type RingLimits,
} from '../../store/watching/change-ring.ts'
import { type CacheEntry, formatCacheKey } from './entry.ts'
import { createOwnWrites, createWatchProgress } from './own-writes.ts'
import { createWatchedObjects, type WatchedObjects } from './watched-objects.ts'

export type KindCache = {
  kind: Kind
  ring: KindRing
  /** The watch's state: the only source of lists and watches, so that they agree about versions. */
  watched: Pick<WatchedObjects, 'get' | 'keys' | 'byCreation' | 'index' | 'tallies'>
  /** The newest known state of the object: own writes take precedence over the watch. */
  find(key: ResourceKey): CacheEntry | undefined
  /** Whether the last object of this name is known to be removed, so that the API server need not be asked. */
  isRemoved(key: ResourceKey): boolean
  /** The API server's answer to a read or write of this service. */
  note(entry: CacheEntry): void
  /** The API server has removed the object. */
  noteRemoval(entry: Pick<CacheEntry, 'key' | 'uid'>): void
  /** Resolves when the watch has reported everything recorded so far; a little later if it does not. */
  settle(signal?: AbortSignal): Promise<void>
  /** Resolves when the watch has reached the version; a little later if it does not. */
  waitFor(version: number, signal?: AbortSignal): Promise<void>
  /** The watch (re)starts with all existing objects. */
  reset(entries: CacheEntry[], version: number): void
  apply(type: Change['type'], entry: CacheEntry): void
  advance(version: number): void
}

function nameChange(type: Change['type'], before: CacheEntry | undefined): Change['type'] {
  if (type === 'DELETED') return type
  return before === undefined ? 'ADDED' : 'MODIFIED'
}

export function createKindCache(kind: Kind, parts: { clock: Clock; limits: RingLimits }): KindCache {
  const ring = createKindRing(parts.limits)
  const watched = createWatchedObjects()
  const own = createOwnWrites()
  const progress = createWatchProgress(parts.clock)

  return {
    kind,
    ring,
    watched,
    find(key) {
      const known = own.get(formatCacheKey(key))
      if (known === undefined) return watched.get(formatCacheKey(key))
      return 'entry' in known ? known.entry : undefined
    },
    isRemoved(key) {
      const known = own.get(formatCacheKey(key))
      return known === undefined ? ring.findLast(kind, key)?.type === 'DELETED' : 'removed' in known
    },
    note: (entry) => own.note(entry, ring.head()),
    noteRemoval: ({ key, uid }) => own.noteRemoval(key, uid),
    settle: (signal) => progress.wait(own.watchFor(ring.head), signal),
    waitFor: (version, signal) => progress.wait(() => ring.head() >= version, signal),
    reset(entries, version) {
      watched.replace(entries)
      own.confirmAll(version, watched.get)
      ring.reset(version)
      progress.check()
    },
    apply(type, reported) {
      const before = watched.get(reported.key)
      const entry = own.confirm(type, reported)
      if (type === 'DELETED') watched.delete(entry.key)
      else watched.set(entry)
      const { version, namespace, name, created, text: object } = entry
      const change = { version, type: nameChange(type, before), kind, namespace, name, created, object }
      ring.publish(before === undefined ? change : { ...change, before: before.text })
      progress.check()
    },
    advance(version) {
      ring.advance(version)
      progress.check()
    },
  }
}

type KindRing = ChangeRing & {
  /** Nothing changed up to this version. */
  advance(version: number): void
  /** Forgets everything: what followers missed is unknown, so they are `lost`. */
  reset(version: number): void
}

function createKindRing(limits: RingLimits): KindRing {
  let ring = createChangeRing(0, limits)
  let newest = 0
  let isEnded = false

  /** A follower of the current ring, which is lost when another ring replaces it. */
  function wrap(inner: Follower): Follower {
    const own = ring
    let isClosed = false
    return {
      take: () => (own === ring ? inner.take() : 'lost'),
      wait: () => inner.wait(),
      isClosed: () => isClosed || isEnded,
      close: () => {
        isClosed = true
        inner.close()
      },
    }
  }

  return {
    head: () => newest,
    publish: (change) => {
      newest = Math.max(newest, change.version)
      ring.publish(change)
    },
    advance: (version) => {
      newest = Math.max(newest, version)
    },
    reset: (version) => {
      const before = ring
      ring = createChangeRing(version, limits)
      newest = version
      before.close()
    },
    findLast: (kind, key) => ring.findLast(kind, key),
    remembers: (version) => ring.remembers(version),
    listSince: (version, scope) => ring.listSince(version, scope),
    follow: (scope, version) => {
      if (version > newest) return undefined
      // Between the last change and a later bookmark there is nothing to report.
      const follower = ring.follow(scope, Math.min(version, ring.head()))
      return follower && wrap(follower)
    },
    close: () => {
      isEnded = true
      ring.close()
    },
  }
}
