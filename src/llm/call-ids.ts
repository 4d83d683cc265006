// Ids of the calls of one answer: results are told apart by them, so each must be there and stand once.
import { randomUUID } from 'node:crypto'

export type CallIds = {
  /** The vendor's own id, or a new one when it gave none or gave it twice. */
  take(given: string | undefined): string
}

export function createCallIds(): CallIds {
  const taken = new Set<string>()
  return {
    take(given) {
      const id = given && !taken.has(given) ? given : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`
      taken.add(id)
      return id
    },
  }
}
