// Access tokens in SQL, stored as SHA-256: tokens have 256 random bits, so the hash needs no salt and may be fast.
import { hash, randomBytes } from 'node:crypto'
import type { Role } from '../../contract/api/identity/access.ts'
import { SvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { TokenDraft, TokenRecord, Tokens } from '../../ports/identity/identity.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { flag, optional, type RecordOf, Table, text, word, wordOf } from '../database/table.ts'

const PREFIX = 'svc_'
const RANDOM_BYTES = 32
const REVOKED = 'revoked-tokens'

const tokens = new Table('api_tokens', {
  id: word,
  hash: word,
  name: text,
  namespace: optional(text),
  role: wordOf<Role>(),
  serverTools: flag,
  createdAt: word,
  expiresAt: optional(word),
  lastUsedAt: optional(word),
  callerId: optional(text),
  callerName: optional(text),
})

/** What the authenticator needs in addition to the port. */
export interface TokenStore extends Tokens {
  /** The record whose token has this hash, expired or not. */
  find(hash: string): Promise<{ record: TokenRecord; hash: string } | undefined>
  /** Notes that the token was used. */
  touch(id: string, at: Date): Promise<void>
  /** Calls back when any process revokes a token; without an id when a revocation may have been missed. */
  onRevoke(listener: (id: string | undefined) => void): void
}

export type TokensOptions = {
  database: Database
  clock: Clock
  ids: Ids
}

/** The form in which a token is stored and looked up. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** A new token, or anything else that lets its holder in. */
export function makeTokenText(prefix: string): string {
  return prefix + randomBytes(RANDOM_BYTES).toString('base64url')
}

function toRecord({ hash: _, callerId: id, callerName: name, ...record }: RecordOf<typeof tokens>): TokenRecord {
  return id === undefined || name === undefined ? record : { ...record, signInOf: { id, name } }
}

function checkDraft(draft: TokenDraft, now: Date): void {
  if (draft.expiresAt !== undefined && draft.expiresAt.getTime() <= now.getTime()) {
    throw new SvcError('InvalidRequest', 'the token would have expired already: choose a later time', {
      details: [{ path: 'expiresAt', message: 'is in the past' }],
    })
  }
}

type NewToken = { draft: TokenDraft; caller?: TokenRecord['signInOf'] }

/** Stores a new token, whose text only the result has. */
export async function insertToken(
  tx: Tx,
  { draft, caller }: NewToken,
  { clock, ids }: Omit<TokensOptions, 'database'>,
): Promise<{ record: TokenRecord; token: string }> {
  const token = makeTokenText(PREFIX)
  const { name, namespace, role, serverTools, expiresAt } = draft
  const stored = {
    id: ids.next('tok'),
    hash: hashToken(token),
    createdAt: clock.now().toISOString(),
    name,
    namespace,
    role,
    serverTools,
    expiresAt: expiresAt?.toISOString(),
    callerId: caller?.id,
    callerName: caller?.name,
  }
  await tx.run(tokens.insert(stored))
  return { record: toRecord(stored), token }
}

/** The ids of what is revoked: the token, then those of people who signed in with it. */
async function deleteToken(tx: Tx, id: string): Promise<string[]> {
  // First by itself: a link of it that is being exchanged is done after this statement, or fails.
  const own = await tx.all(sql<{ id: string }>`delete from api_tokens where id = ${id} returning id`)
  if (own.length === 0) return []
  await tx.run(sql`delete from sign_in_links where caller_id = ${id}`)
  const others = await tx.all(sql<{ id: string }>`delete from api_tokens where caller_id = ${id} returning id`)
  return [...own, ...others].map((row) => row.id)
}

export function createTokens(options: TokensOptions): TokenStore {
  const { database, clock } = options

  return {
    async create(draft) {
      checkDraft(draft, clock.now())
      return database.write((tx) => insertToken(tx, { draft }, options))
    },

    async list() {
      return (await tokens.all(database.read, sql`order by created_at desc, id desc`)).map(toRecord)
    },

    async revoke(id) {
      const revoked = await database.write(async (tx) => {
        const ids = await deleteToken(tx, encodeText(id))
        for (const one of ids) tx.announce(REVOKED, one)
        return ids
      })
      if (revoked.length === 0)
        throw new SvcError('NotFound', `there is no token ${id}: list the tokens to see their ids`)
    },

    async find(hash) {
      const stored = await tokens.first(database.read, sql`where hash = ${hash}`)
      return stored && { record: toRecord(stored), hash: stored.hash }
    },

    async touch(id, at) {
      const time = at.toISOString()
      await database.write((tx) =>
        tx.run(sql`update api_tokens set last_used_at = ${time}
          where id = ${id} and (last_used_at is null or last_used_at < ${time})`),
      )
    },

    onRevoke: (listener) => void database.listen(REVOKED, listener),
  }
}
