// Limits concurrent work on this replica (LIM-016): per caller, per namespace, and in total.
import { SvcError } from '../../errors.ts'
import { createCounts } from '../../lib/counts.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { callerKey, identifyCaller } from '../../rules/identity/caller-identity.ts'

export type SlotSettings = {
  max: number
  /** Lower than the total, so that nobody takes up the whole service; an owner may use all of it. */
  perNamespace: number
  perCaller: number
}

export type Slots = {
  /** Takes a slot; the returned function frees it, once. TooManyRequests when none is free. */
  take(who: { caller: Caller; namespace: string }): () => void
}

const retryAfterSeconds = 5

function refuse(what: string, whose: string): never {
  throw new SvcError('TooManyRequests', `too many concurrent ${what}${whose}`, { retryAfterSeconds })
}

/** `what`: the work as messages name it. */
export function createSlots(what: string, { max, perNamespace, perCaller }: SlotSettings): Slots {
  const callers = createCounts()
  const namespaces = createCounts()
  let taken = 0

  function check(key: string, { caller, namespace }: { caller: Caller; namespace: string }): void {
    if (caller.role !== 'owner') {
      if (callers.of(key) >= perCaller) refuse(what, ' of yours; wait until one has ended')
      if (namespaces.of(namespace) >= perNamespace) refuse(what, ` in namespace "${namespace}"`)
    }
    if (taken >= max) refuse(what, '')
  }

  return {
    take(who) {
      const key = callerKey(identifyCaller(who.caller))
      check(key, who)
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
