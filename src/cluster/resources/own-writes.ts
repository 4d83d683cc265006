// The service's own writes that the watch has not reported yet: reads find them at once.
import type { CacheKey, Entry } from './entry.ts'

/** Records a newer state, or that the object of this uid was removed. */
export type OwnWrite = { entry: Entry } | { removed: string }

export type OwnWrites = {
  get(key: CacheKey): OwnWrite | undefined
  /** `head` is the version that the watch has reached: it has reported everything up to that. */
  note(entry: Entry, head: number): void
  noteRemoval(key: CacheKey, uid: string): void
  /** The watch reported the object; returns an own entry of the same version, so that its text is held once. */
  tell(type: string, entry: Entry): Entry
  /** Everything was listed again at a version, with these objects. */
  tellAll(version: number, find: (key: CacheKey) => Entry | undefined): void
  /** Creates a test whether the watch has reported everything recorded until now; `head` is how far it is. */
  watchFor(head: () => number): () => boolean
}

/** Removed uids to remember, for answers that arrive after the watch has reported the removal. */
const rememberedRemovals = 1000

/** Version of a newer state; 0 for a removal, which has none. */
function versionOf(known: OwnWrite | undefined): number {
  return known !== undefined && 'entry' in known ? known.entry.version : 0
}

function entryOf(known: OwnWrite | undefined, otherwise: Entry): Entry {
  return known !== undefined && 'entry' in known ? known.entry : otherwise
}

export function createOwnWrites(): OwnWrites {
  const writes = new Map<CacheKey, OwnWrite>()
  /** Keys by the uid of removals that the watch has not reported yet. */
  const untold = new Map<string, CacheKey>()
  const toldRemovals = new Set<string>()
  let lastVersion = 0

  function tellRemoval(uid: string): void {
    untold.delete(uid)
    toldRemovals.add(uid)
    const oldest = toldRemovals.values().next().value
    if (toldRemovals.size > rememberedRemovals && oldest !== undefined) toldRemovals.delete(oldest)
  }

  /** Whether the watch, having reached this version, has reported it. */
  function isTold(known: OwnWrite, version: number): boolean {
    return 'removed' in known ? !untold.has(known.removed) : known.entry.version <= version
  }

  return {
    get: (key) => writes.get(key),
    note(entry, head) {
      const isRemoved = untold.has(entry.uid) || toldRemovals.has(entry.uid)
      if (isRemoved || entry.version <= Math.max(head, versionOf(writes.get(entry.key)))) return
      lastVersion = Math.max(lastVersion, entry.version)
      writes.set(entry.key, { entry })
    },
    noteRemoval(key, uid) {
      if (toldRemovals.has(uid)) return
      untold.set(uid, key)
      writes.set(key, { removed: uid })
    },
    tell(type, entry) {
      const known = writes.get(entry.key)
      if (type === 'DELETED') tellRemoval(entry.uid)
      if (known !== undefined && isTold(known, entry.version)) writes.delete(entry.key)
      return type !== 'DELETED' && versionOf(known) === entry.version ? entryOf(known, entry) : entry
    },
    tellAll(version, find) {
      // An object that still exists will be reported later; no event comes for the others.
      for (const [uid, key] of untold) if (find(key)?.uid !== uid) tellRemoval(uid)
      for (const [key, known] of writes) if (isTold(known, version)) writes.delete(key)
    },
    watchFor(head) {
      const version = lastVersion
      const uids = [...untold.keys()]
      return () => head() >= version && uids.every((uid) => !untold.has(uid))
    },
  }
}
