// Sign-in links in SQL: only the hash of a code is stored, and one statement spends it.
import type { Role } from '../../contract/api/identity/access.ts'
import { SvcError } from '../../errors.ts'
import type { SignInDraft, SignInLinks, TokenDraft } from '../../ports/identity/identity.ts'
import type { Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeOptional, decodeText, encodeOptional, encodeText } from '../database/stored-text.ts'
import { createTokens, hashToken, insertToken, makeTokenText, type TokenStore, type TokensOptions } from './tokens.ts'

const PREFIX = 'svc_link_'
/** The caller of the bootstrap token, which is not stored. */
const OWNER = 'owner'

type LinkRow = {
  caller_id: string
  caller_name: string
  name: string
  namespace: string | null
  role: Role
  server_tools: number
  token_expires_at: string
  expires_at: string
}

function toDraft(row: LinkRow): TokenDraft {
  return {
    name: decodeText(row.name),
    namespace: decodeOptional(row.namespace),
    role: row.role,
    serverTools: Number(row.server_tools) === 1,
    expiresAt: new Date(row.token_expires_at),
  }
}

async function insertLink(tx: Tx, hash: string, { caller, token, expiresAt }: SignInDraft): Promise<void> {
  await tx.run(sql`insert into sign_in_links
      (hash, caller_id, caller_name, name, namespace, role, server_tools, token_expires_at, expires_at)
    values (${hash}, ${encodeText(caller.id)}, ${encodeText(caller.name)}, ${encodeText(token.name)},
      ${encodeOptional(token.namespace)}, ${token.role}, ${token.serverTools ? 1 : 0},
      ${token.expiresAt.toISOString()}, ${expiresAt.toISOString()})`)
}

/** Whether the token of the link's maker is valid; it cannot be revoked until the unit ends. */
async function holdMaker(tx: Tx, id: string, now: string): Promise<boolean> {
  if (id === OWNER) return true
  const { changes } = await tx.run(sql`update api_tokens set id = id
    where id = ${id} and (expires_at is null or expires_at > ${now})`)
  return changes === 1
}

/** The link, which nobody can use again; undefined when it does not count. */
async function spendLink(tx: Tx, hash: string, now: string): Promise<LinkRow | undefined> {
  const row = await tx.first(sql<LinkRow>`delete from sign_in_links where hash = ${hash} returning *`)
  if (row === undefined || row.expires_at <= now) return undefined
  return (await holdMaker(tx, row.caller_id, now)) ? row : undefined
}

/** Nothing is left of people who signed in, once that is over. */
async function sweep(tx: Tx, now: string): Promise<void> {
  await tx.run(sql`delete from sign_in_links where expires_at <= ${now}`)
  await tx.run(sql`delete from api_tokens where caller_id is not null and expires_at <= ${now}`)
}

export function createSignInLinks(options: TokensOptions): SignInLinks {
  const { database, clock } = options
  return {
    async create(draft) {
      const code = makeTokenText(PREFIX, options.randomBytes)
      await database.write(async (tx) => {
        await sweep(tx, clock.now().toISOString())
        await insertLink(tx, hashToken(code), draft)
      })
      return code
    },

    async exchange(code) {
      const made = await database.write(async (tx) => {
        const row = await spendLink(tx, hashToken(code), clock.now().toISOString())
        if (row === undefined) return undefined
        const caller = { id: decodeText(row.caller_id), name: decodeText(row.caller_name) }
        return insertToken(tx, { draft: toDraft(row), caller }, options)
      })
      if (made !== undefined) return made
      throw new SvcError(
        'Unauthenticated',
        'the sign-in link is not valid: it was used, or is too old; make another one',
      )
    },
  }
}

/** Everything that lets people in. */
export function createCredentials(options: TokensOptions): { tokens: TokenStore; signInLinks: SignInLinks } {
  return { tokens: createTokens(options), signInLinks: createSignInLinks(options) }
}
