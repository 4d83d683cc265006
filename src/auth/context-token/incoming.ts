// The context tokens of requests, for as long as their transactions live: stored separately, so that code that
// shows or stores a caller can never show its token.
import type { CallerTransaction } from '../../ports/identity/identity.ts'

export type IncomingTokens = {
  keep(transaction: CallerTransaction, token: string): void
  of(transaction: CallerTransaction): string | undefined
}

export function createIncomingTokens(): IncomingTokens {
  const tokens = new WeakMap<CallerTransaction, string>()
  return {
    keep: (transaction, token) => void tokens.set(transaction, token),
    of: (transaction) => tokens.get(transaction),
  }
}
