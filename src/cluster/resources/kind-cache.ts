// One kind as reported by the watch, and ahead of that the service's own writes that the watch has not reported yet.
import type { Kind } from '../../contract/kinds/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Change, RingLimits } from '../../store/watching/change-ring.ts'
import { type Entry, formatKey } from './entry.ts'
import { createKindRing, type KindRing } from './kind-ring.ts'
import { createOwnWrites } from './own-writes.ts'
import { createProgress } from './progress.ts'
import { createToldObjects, type ToldObjects } from './told-objects.ts'

export type KindCache = {
  kind: Kind
  ring: KindRing
  /** The watch's state: the only source of lists and watches, so that they agree about versions. */
  told: Pick<ToldObjects, 'get' | 'keys' | 'byCreation' | 'index' | 'tallies'>
  /** The newest known state of the object: own writes take precedence over the watch. */
  find(key: ResourceKey): Entry | undefined
  /** Whether the last object of this name is known to be removed, so that the API server need not be asked. */
  isRemoved(key: ResourceKey): boolean
  /** The API server's answer to a read or write of this service. */
  note(entry: Entry): void
  /** The API server has removed the object. */
  noteRemoval(entry: Pick<Entry, 'key' | 'uid'>): void
  /** Resolves when the watch has reported everything recorded so far; a little later if it does not. */
  settle(signal?: AbortSignal): Promise<void>
  /** Resolves when the watch has reached the version; a little later if it does not. */
  waitFor(version: number, signal?: AbortSignal): Promise<void>
  /** The watch (re)starts with all existing objects. */
  reset(entries: Entry[], version: number): void
  apply(type: Change['type'], entry: Entry): void
  advance(version: number): void
}

function nameChange(type: Change['type'], before: Entry | undefined): Change['type'] {
  if (type === 'DELETED') return type
  return before === undefined ? 'ADDED' : 'MODIFIED'
}

export function createKindCache(kind: Kind, parts: { clock: Clock; limits: RingLimits }): KindCache {
  const ring = createKindRing(parts.limits)
  const told = createToldObjects()
  const own = createOwnWrites()
  const progress = createProgress(parts.clock)

  return {
    kind,
    ring,
    told,
    find(key) {
      const known = own.get(formatKey(key))
      if (known === undefined) return told.get(formatKey(key))
      return 'entry' in known ? known.entry : undefined
    },
    isRemoved(key) {
      const known = own.get(formatKey(key))
      return known === undefined ? ring.findLast(kind, key)?.type === 'DELETED' : 'removed' in known
    },
    note: (entry) => own.note(entry, ring.head()),
    noteRemoval: ({ key, uid }) => own.noteRemoval(key, uid),
    settle: (signal) => progress.wait(own.watchFor(ring.head), signal),
    waitFor: (version, signal) => progress.wait(() => ring.head() >= version, signal),
    reset(entries, version) {
      told.replace(entries)
      own.tellAll(version, told.get)
      ring.reset(version)
      progress.check()
    },
    apply(type, given) {
      const before = told.get(given.key)
      const entry = own.tell(type, given)
      if (type === 'DELETED') told.delete(entry.key)
      else told.set(entry)
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
