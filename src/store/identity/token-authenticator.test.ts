// Stored tokens from the attacker's side; what they do for their owners is in the contract suite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMigrated } from '../../../test/fixtures/sqlite.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { TokenDraft } from '../../ports/identity/identity.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { createTokenAuthenticator } from './token-authenticator.ts'
import { createTokens, hashToken, type TokenStore } from './tokens.ts'

let folder: string
let database: Database & { close(): Promise<void> }
let now: number
let lookUps: number
const clock: Clock = { now: () => new Date(now), sleep: () => Promise.resolve() }
let counter = 0
const ids: Ids = { next: (prefix) => `${prefix}-${++counter}`, hex: (length) => '0'.repeat(length), random: () => 0 }
const owner = 'svc_the-owners-own-token'

beforeEach(async () => {
  now = Date.parse('2026-03-01T12:00:00Z')
  lookUps = 0
  folder = mkdtempSync(join(tmpdir(), 'svc-token-'))
  database = await openMigrated(join(folder, 'svc.db'))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

function open(tokens: TokenStore = createTokens({ database, clock, ids })) {
  const counted: TokenStore = {
    ...tokens,
    find: (hash) => {
      lookUps++
      return tokens.find(hash)
    },
  }
  const authenticator = createTokenAuthenticator({ tokens: counted, clock, ownerToken: owner })
  return { tokens, ask: (token: string) => authenticator.authenticate({ token, source: 'bearer' }) }
}

const draft: TokenDraft = { name: 'ci', role: 'editor', serverTools: true }
const refused = { reason: 'Unauthenticated' }

describe('somebody who read the database', () => {
  it('finds nothing there that authenticates: neither the text nor its hash is a token', async () => {
    const { tokens, ask } = open()
    const { token } = await tokens.create(draft)
    const rows = await database.read.all(sql<Record<string, unknown>>`select * from api_tokens`)
    expect(JSON.stringify(rows)).not.toContain(token.slice(4))
    for (const value of [
      ...rows.flatMap((row) => Object.values(row).map(String)),
      hashToken(token),
      hashToken(owner),
    ]) {
      await expect(ask(value)).rejects.toMatchObject(refused)
    }
  })
})

describe('somebody who guesses', () => {
  it.each([
    ["' or '1'='1", 'a piece of SQL'],
    ['%', 'a wildcard'],
    ['svc_%', 'a wildcard behind the prefix'],
    ['__proto__', 'a name that every object has'],
    ['constructor', 'another'],
    ['undefined', 'a word'],
    ['ｓｖｃ_the-owners-own-token', 'the owner’s token in wide letters'],
    ['svc_the-owners-own-token\u0000', 'with an end that C does not see'],
    ['svc_the-owners-own-toke\u0301n', 'with an accent'],
    ['x'.repeat(1_000_000), 'a megabyte'],
  ])('%j is refused: %s', async (guess) => {
    const { tokens, ask } = open()
    await tokens.create(draft)
    await expect(ask(guess)).rejects.toMatchObject(refused)
  })

  it('leaves no entry in the cache, whatever token is tried', async () => {
    const { tokens, ask } = open()
    const { token } = await tokens.create(draft)
    await ask(token)
    for (let index = 0; index < 2000; index++) await expect(ask(`guess-${index}`)).rejects.toMatchObject(refused)
    lookUps = 0
    await ask(token)
    expect(lookUps).toBe(0)
  })
})

describe('a token that was stolen', () => {
  it('is refused within five seconds of its revocation, also when another process revoked it', async () => {
    const [here, elsewhere] = [open(), open()]
    const { token, record } = await here.tokens.create(draft)
    await elsewhere.ask(token)
    await here.tokens.revoke(record.id)
    await expect(here.ask(token)).rejects.toMatchObject(refused)
    now += 5_000
    await expect(elsewhere.ask(token)).rejects.toMatchObject(refused)
  })

  it('does not outlive its expiry in any cache, even when the clock is set back', async () => {
    const { tokens, ask } = open()
    const { token } = await tokens.create({ ...draft, expiresAt: new Date(now + 10_000) })
    await ask(token)
    now += 10_000
    await expect(ask(token)).rejects.toMatchObject(refused)
    await expect(tokens.create({ ...draft, expiresAt: new Date(now - 1) })).rejects.toMatchObject({
      reason: 'InvalidRequest',
    })
  })

  it('never makes its holder the owner', async () => {
    const { tokens, ask } = open()
    const { token } = await tokens.create({ ...draft, name: 'owner' })
    expect(await ask(token)).toMatchObject({ username: 'owner', role: 'editor' })
    expect((await ask(token)).uid).not.toBe('owner')
  })
})
