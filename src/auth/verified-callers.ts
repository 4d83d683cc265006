// Callers whose tokens were verified a moment ago, so that a signature is not checked on each request.
import { hash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { KeySet } from './key-set.ts'
import type { VerifiedToken } from './signed-token.ts'

const mostCallers = 2_000
/** However long a token lives, it is checked again after this time, so that withdrawn keys are noticed. */
const recheckMs = 300_000

type Entry = { caller: Caller; fromMs: number; untilMs: number; checkedAt: number; generation: number }

export type VerifiedCallers = {
  /** The caller of a token that is still valid, else the result of `verify`. Failures are not cached. */
  recall(token: string, verify: () => Promise<{ caller: Caller; token: VerifiedToken }>): Promise<Caller>
}

export function createVerifiedCallers({ clock, keys }: { clock: Clock; keys: KeySet }): VerifiedCallers {
  const entries = new Map<string, Entry>()

  function isGood(entry: Entry | undefined): entry is Entry {
    if (entry === undefined || entry.generation !== keys.generation()) return false
    const now = clock.now().getTime()
    return now < entry.untilMs && now >= entry.fromMs && Math.abs(now - entry.checkedAt) < recheckMs
  }

  function keep(id: string, entry: Entry): void {
    const oldest = entries.size >= mostCallers ? entries.keys().next().value : undefined
    if (oldest !== undefined) entries.delete(oldest)
    entries.set(id, entry)
  }

  return {
    async recall(token, verify) {
      // By hash: the token itself is not kept in memory.
      const id = hash('sha256', token, 'base64')
      const known = entries.get(id)
      if (isGood(known)) return known.caller
      entries.delete(id)
      // The generation before the check: if keys change meanwhile, the entry is checked again.
      const generation = keys.generation()
      const { caller, token: verified } = await verify()
      const { validFromMs: fromMs, validUntilMs: untilMs } = verified
      keep(id, { caller, fromMs, untilMs, checkedAt: clock.now().getTime(), generation })
      return caller
    },
  }
}
