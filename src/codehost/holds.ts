// Until when a login may not call: what a code host said once holds for every later call, which is then not sent at all.
import { heldUp } from './faults.ts'

type Headers = Record<string, string | number | undefined>

export type Holds = {
  /** Throws HeldUp while the login has to wait. */
  check(name: string, host: string): void
  hold(name: string, until: number): void
  /** The last call that was allowed says when the next one is. */
  note(name: string, headers: Headers): void
}

export function createHolds(now: () => number): Holds {
  const holds = new Map<string, number>()
  const hold = (name: string, until: number) => void holds.set(name, Math.max(until, holds.get(name) ?? 0))
  return {
    check(name, host) {
      const until = holds.get(name)
      if (until === undefined) return
      if (until > now()) throw heldUp(host, until)
      holds.delete(name)
    },
    hold,
    note(name, headers) {
      const reset = Number(headers['x-ratelimit-reset']) * 1000
      if (String(headers['x-ratelimit-remaining']) === '0' && reset > now()) hold(name, reset)
    },
  }
}
