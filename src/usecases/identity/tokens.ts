// Tokens of users; only the owner manages them.
import { parseTokenExpiry, type TokenCreate } from '../../contract/api/identity/tokens.ts'
import { SvcError } from '../../errors.ts'
import type { Caller, TokenRecord } from '../../ports/identity/identity.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireAccess } from './access.ts'

export type TokenUsecases = {
  /** Only this answer contains the token's text. */
  create(caller: Caller, draft: TokenCreate): Promise<{ record: TokenRecord; token: string }>
  list(caller: Caller): Promise<TokenRecord[]>
  /** NotFound. */
  revoke(caller: Caller, id: string): Promise<void>
}

function readExpiry(expires: string | undefined, now: Date): Date | undefined {
  if (expires === undefined) return undefined
  const end = parseTokenExpiry(expires, now)
  if (end !== undefined && end > now) return end
  throw new SvcError('InvalidRequest', 'invalid token: expires is in the past', {
    details: [{ path: 'expires', message: 'must be in the future' }],
  })
}

export function createTokenUsecases({ ports }: UsecaseDeps): TokenUsecases {
  const { tokens, clock } = ports
  return {
    async create(caller, { name, namespace, role, readOnly, serverTools, expires }) {
      await requireAccess(ports, caller, { verb: 'create', kind: 'Token' })
      const expiresAt = readExpiry(expires, clock.now())
      return tokens.create({
        name,
        role: role ?? (readOnly ? 'viewer' : 'editor'),
        serverTools,
        namespace,
        expiresAt,
      })
    },
    async list(caller) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Token' })
      return tokens.list()
    },
    async revoke(caller, id) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Token' })
      await tokens.revoke(id)
    },
  }
}
