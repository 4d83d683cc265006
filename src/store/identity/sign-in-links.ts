// Sign-in links in SQL: only the hash of a code is stored, and one statement spends it.
import type { Role } from '../../contract/api/identity/access.ts'
import { SvcError } from '../../errors.ts'
import type { SignInDraft, SignInLinks } from '../../ports/identity/identity.ts'
import type { Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import { flag, optional, type RecordOf, Table, text, time, word, wordOf } from '../database/table.ts'
import { createTokens, hashToken, insertToken, makeTokenText, type TokenStore, type TokensOptions } from './tokens.ts'

const PREFIX = 'svc_link_'
/** The caller of the bootstrap token, which is not stored. */
const OWNER = 'owner'

const links = new Table('sign_in_links', {
  hash: word,
  callerId: text,
  callerName: text,
  name: text,
  namespace: optional(text),
  role: wordOf<Role>(),
  serverTools: flag,
  tokenExpiresAt: time,
  expiresAt: word,
})
type Link = RecordOf<typeof links>

function toStored(hash: string, { caller, token, expiresAt }: SignInDraft): Link {
  const { expiresAt: tokenExpiresAt, ...rights } = token
  const maker = { callerId: caller.id, callerName: caller.name }
  return { hash, ...maker, ...rights, tokenExpiresAt, expiresAt: expiresAt.toISOString() }
}

/** Whether the token of the link's maker is valid; it cannot be revoked until the unit ends. */
async function holdMaker(tx: Tx, id: string, now: string): Promise<boolean> {
  if (id === OWNER) return true
  const { changes } = await tx.run(sql`update api_tokens set id = id
    where id = ${id} and (expires_at is null or expires_at > ${now})`)
  return changes === 1
}

/** The link, which nobody can use again; undefined when it does not count. */
async function spendLink(tx: Tx, hash: string, now: string): Promise<Link | undefined> {
  const link = await links.returning(tx, sql`delete from sign_in_links where hash = ${hash}`)
  if (link === undefined || link.expiresAt <= now) return undefined
  return (await holdMaker(tx, encodeText(link.callerId), now)) ? link : undefined
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
      const code = makeTokenText(PREFIX)
      await database.write(async (tx) => {
        await sweep(tx, clock.now().toISOString())
        await tx.run(links.insert(toStored(hashToken(code), draft)))
      })
      return code
    },

    async exchange(code) {
      const made = await database.write(async (tx) => {
        const link = await spendLink(tx, hashToken(code), clock.now().toISOString())
        if (link === undefined) return undefined
        const { callerId, callerName, tokenExpiresAt: expiresAt, name, namespace, role, serverTools } = link
        const draft = { name, namespace, role, serverTools, expiresAt }
        return insertToken(tx, { draft, caller: { id: callerId, name: callerName } }, options)
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
