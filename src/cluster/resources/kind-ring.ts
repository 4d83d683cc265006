// The remembered changes of one kind, which start over when the API server cannot report what came between.
import { type ChangeRing, createChangeRing, type Follower, type RingLimits } from '../../store/watching/change-ring.ts'

export type KindRing = ChangeRing & {
  /** Nothing changed up to this version. */
  advance(version: number): void
  /** Forgets everything: what followers missed is unknown, so they are `lost`. */
  reset(version: number): void
}

export function createKindRing(limits: RingLimits): KindRing {
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
