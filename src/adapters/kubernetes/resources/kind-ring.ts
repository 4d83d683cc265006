// The remembered changes of one kind, which begin anew when the API server no longer tells what came between.
import { type ChangeRing, createChangeRing, type Follower, type RingLimits } from '../../resource-store/change-ring.ts'

export type KindRing = ChangeRing & {
  /** Nothing was changed up to this version. */
  advance(version: number): void
  /** Forgets everything: what followers missed is not known, so that they are `lost`. */
  reset(version: number): void
}

export function createKindRing(limits: RingLimits): KindRing {
  let ring = createChangeRing(0, limits)
  let newest = 0
  let isEnded = false

  /** A follower of the present ring, which is lost when another takes the ring's place. */
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
      // Between the last change and a bookmark after it there is nothing to tell.
      const follower = ring.follow(scope, Math.min(version, ring.head()))
      return follower && wrap(follower)
    },
    close: () => {
      isEnded = true
      ring.close()
    },
  }
}
