// Limits concurrent work on this replica (LIM-016): in total, per namespace and per caller. When the total runs short,
// whoever has fewer slots goes first.
import { SvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { createCounts } from '../../lib/counts.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { callerKey, identifyCaller } from '../../rules/identity/caller-identity.ts'

export type SlotSettings = {
  max: number
  /** Absent: as many as there are; an owner may use all of them in any case. */
  perNamespace?: number
  perCaller?: number
}

type Applicant = { caller: Caller; namespace: string }

export type Slots = {
  /** Takes a slot; the returned function frees it, once. TooManyRequests when none is free. */
  take(who: Applicant): () => void
}

const retryAfterSeconds = 5
/** How long the next free slot is kept for a caller who found none: it is told to come back in half of that time. */
const claimMs = 2 * retryAfterSeconds * 1000
/** Of more callers than this, those who were refused first lose their claim. */
const maxClaims = 1000

function refuse(what: string, whose: string): never {
  throw new SvcError('TooManyRequests', `too many concurrent ${what}${whose}`, { retryAfterSeconds })
}

/**
 * `what`: the work as messages name it.
 * @param now in milliseconds, of a clock that is never set back
 */
export function createSlots(
  what: string,
  { max, perNamespace = Infinity, perCaller = Infinity }: SlotSettings,
  now: () => number = () => performance.now(),
): Slots {
  const callers = createCounts()
  const namespaces = createCounts()
  const claims = new BoundedMap<string, true>({ max: maxClaims, age: { maxMs: claimMs, now } })
  let taken = 0

  /** Callers who wait for a slot and have fewer of them. */
  function countBefore(key: string): number {
    if (claims.size === 0) return 0
    const own = callers.of(key)
    return [...claims].filter(([other]) => other !== key && callers.of(other) < own).length
  }

  function checkShare(key: string, namespace: string): void {
    if (callers.of(key) >= perCaller) refuse(what, ' of yours; wait until one has ended')
    if (namespaces.of(namespace) >= perNamespace) refuse(what, ` in namespace "${namespace}"`)
    if (taken >= max || taken + countBefore(key) < max) return
    claims.set(key, true)
    refuse(what, ': the next one is for a caller who has fewer; wait until some of yours have ended')
  }

  function check(key: string, { caller, namespace }: Applicant): void {
    if (caller.role !== 'owner') checkShare(key, namespace)
    if (taken < max) return
    claims.set(key, true)
    refuse(what, '')
  }

  return {
    take(who) {
      const key = callerKey(identifyCaller(who.caller))
      check(key, who)
      claims.delete(key)
      const count = (change: 1 | -1) => {
        taken += change
        callers.add(key, change)
        namespaces.add(who.namespace, change)
      }
      count(1)
      let isTaken = true
      return () => {
        if (isTaken) count(-1)
        isTaken = false
      }
    },
  }
}
