// Finds the caller of a token: the owner, whose token is kept here as a hash only, or that of a stored token.
import { timingSafeEqual } from 'node:crypto'
import { SvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Authenticator, Caller, TokenRecord } from '../../ports/identity/identity.ts'
import { hashToken, type TokenStore } from './tokens.ts'

const TOUCH_MS = 60_000
// Another replica may revoke a token, so the store is checked again after this time.
const CACHE_MS = 5_000
const CACHE_SIZE = 1_000

export type TokenAuthenticatorOptions = {
  tokens: TokenStore
  clock: Clock
  /** The bootstrap token; whoever presents it is the owner. Never stored. */
  ownerToken?: string
}

type Entry = { record: TokenRecord; caller: Caller }

const OWNER: Caller = {
  authType: 'token',
  username: 'owner',
  uid: 'owner',
  groups: [],
  role: 'owner',
  serverTools: true,
}

/** Who signed in with a token stays that caller, for limits and records too. */
function toCaller(record: TokenRecord): Caller {
  const { namespace, id, expiresAt, signInOf } = record
  const { id: uid, name: username } = signInOf ?? record
  return {
    authType: 'token',
    username,
    uid,
    groups: [],
    ...(namespace === undefined ? {} : { namespace, boundNamespace: namespace }),
    role: record.role,
    token: { id, ...(expiresAt === undefined ? {} : { expiresAt }), isSignIn: signInOf !== undefined },
    serverTools: record.serverTools,
  }
}

function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

const toBytes = (hash: string) => Buffer.from(hash, 'latin1')

function isExpired(record: TokenRecord, now: number): boolean {
  return record.expiresAt !== undefined && Date.parse(record.expiresAt) <= now
}

/** The same sentence for every failure, so that it reveals nothing about tokens. */
function refuse(): never {
  throw new SvcError('Unauthenticated', 'the credential is missing or not valid: send a valid token')
}

export function createTokenAuthenticator(options: TokenAuthenticatorOptions): Authenticator {
  const { tokens, clock } = options
  const ownerHash = options.ownerToken === undefined ? undefined : toBytes(hashToken(options.ownerToken))
  const cache = new BoundedMap<string, Entry>({
    max: CACHE_SIZE,
    age: { maxMs: CACHE_MS, now: () => clock.now().getTime() },
  })
  const touched = new Map<string, number>()
  let revocations = 0

  tokens.onRevoke((id) => {
    revocations += 1
    if (id === undefined) return cache.clear()
    touched.delete(id)
    for (const [hash, entry] of cache) if (entry.record.id === id) cache.delete(hash)
  })

  function touchSoon(record: TokenRecord, now: Date): void {
    const last = touched.get(record.id) ?? Date.parse(record.lastUsedAt ?? '')
    if (now.getTime() - last < TOUCH_MS) return
    touched.set(record.id, now.getTime())
    // The request is served all the same.
    tokens.touch(record.id, now).catch(() => undefined)
  }

  async function findEntry(hash: string, now: number): Promise<Entry | undefined> {
    const cached = cache.get(hash)
    if (cached !== undefined) return cached
    const before = revocations
    const found = await tokens.find(hash)
    if (found === undefined || !isSameHash(toBytes(found.hash), toBytes(hash))) return undefined
    const entry = { record: found.record, caller: toCaller(found.record) }
    // A record that was read before a revocation may be the revoked one: it serves this request but is not cached.
    if (before === revocations) cache.set(hash, entry, now)
    return entry
  }

  return {
    async authenticate({ token }) {
      if (token === '') refuse()
      const hash = hashToken(token)
      if (ownerHash !== undefined && isSameHash(ownerHash, toBytes(hash))) return OWNER
      const now = clock.now()
      const entry = await findEntry(hash, now.getTime())
      if (entry === undefined || isExpired(entry.record, now.getTime())) return refuse()
      touchSoon(entry.record, now)
      return entry.caller
    },
  }
}
