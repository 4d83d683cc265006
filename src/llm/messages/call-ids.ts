// Ids of the tool calls of one answer: results refer to them, so each must exist and be unique.
import { randomUUID } from 'node:crypto'

export type CallIds = {
  /** The vendor's own id, or a new one when it is missing or repeated. */
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
