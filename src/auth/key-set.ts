// The cached public keys of an issuer: fetched once, again when they are old, and when a token names an unknown one.
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { SvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

/** Older keys are fetched again before they are used, so that a withdrawn one is noticed. */
const maxAgeMs = 300_000
/** The shortest time between two fetches because of unknown key ids (OIDC-011). */
const cooldownMs = 60_000
/** The same while there are no keys at all. */
const retryMs = 5_000
const maxKeys = 100
/** For a token without `kid`, so that one token does not cost a hundred verifications. */
const maxCandidates = 4

export type KeySet = {
  /** Keys that may have signed. Unavailable when there are none because the issuer cannot be reached. */
  find(kid: string | undefined): Promise<CryptoKey[]>
  /** Increases when the keys change: earlier verifications are then void. */
  generation(): number
}

export type KeySetOptions = {
  /** The JWKS document. Rejects when it cannot be fetched. */
  load(): Promise<Record<string, unknown>>
  clock: Clock
  /** Called when the issuer cannot be reached; cached keys stay valid. */
  onFailure?: (error: unknown) => void
}

type Known = { kid: string | undefined; thumb: string; key: CryptoKey }

function isUsable(value: unknown): value is JWK {
  if (value === null || typeof value !== 'object') return false
  const { kty, use, alg, key_ops: operations, d } = value as JWK
  if (kty !== 'RSA' || (use !== undefined && use !== 'sig') || (alg !== undefined && alg !== 'RS256')) return false
  return d === undefined && (operations === undefined || operations.includes('verify'))
}

async function importKey(jwk: JWK): Promise<Known[]> {
  const { kty, n, e, kid } = jwk
  if (typeof n !== 'string' || typeof e !== 'string' || (kid !== undefined && typeof kid !== 'string')) return []
  try {
    // Only the numbers: certificates and addresses in the document are ignored.
    const key = (await importJWK({ kty, n, e }, 'RS256')) as CryptoKey
    return [{ kid, thumb: `${kid ?? ''}|${n}|${e}`, key }]
  } catch {
    return []
  }
}

async function readKeys(document: Record<string, unknown>): Promise<Known[]> {
  const listed = Array.isArray(document.keys) ? document.keys.slice(0, maxKeys) : []
  return (await Promise.all(listed.filter(isUsable).map(importKey))).flat()
}

function summarize(keys: readonly Known[]): string {
  return keys
    .map(({ thumb }) => thumb)
    .sort()
    .join('\n')
}

export function createKeySet({ load, clock, onFailure }: KeySetOptions): KeySet {
  let keys: Known[] = []
  let loadedAt: number | undefined
  let triedAt: number | undefined
  let generation = 0
  let pending: Promise<void> | undefined

  async function reload(now: number): Promise<void> {
    triedAt = now
    const found = await readKeys(await load())
    if (found.length === 0) throw new SvcError('Unavailable', 'the issuer of the token has no keys: try again later')
    if (summarize(found) !== summarize(keys)) generation++
    keys = found
    loadedAt = now
  }

  /** One request at a time, shared by all who wait. A failure is reported, and only thrown when there are no keys. */
  async function refresh(): Promise<void> {
    pending ??= reload(clock.now().getTime()).finally(() => {
      pending = undefined
    })
    try {
      await pending
    } catch (error) {
      onFailure?.(error)
      if (loadedAt === undefined) throw error
    }
  }

  function isAfter(moment: number | undefined, ms: number): boolean {
    return moment === undefined || Math.abs(clock.now().getTime() - moment) >= ms
  }

  async function ensureAny(): Promise<void> {
    if (pending === undefined && !isAfter(triedAt, retryMs)) throw unreachable()
    await refresh()
  }

  async function ensureFresh(): Promise<void> {
    if (loadedAt === undefined) await ensureAny()
    else if (isAfter(loadedAt, maxAgeMs) && isAfter(triedAt, cooldownMs)) await refresh()
  }

  function pick(kid: string | undefined): CryptoKey[] {
    const matching = kid === undefined ? keys : keys.filter((known) => known.kid === kid)
    return matching.slice(0, maxCandidates).map(({ key }) => key)
  }

  return {
    async find(kid) {
      await ensureFresh()
      const found = pick(kid)
      if (found.length > 0 || kid === undefined) return found
      if (pending !== undefined || isAfter(triedAt, cooldownMs)) await refresh()
      return pick(kid)
    },
    generation: () => generation,
  }
}

function unreachable(): SvcError {
  return new SvcError('Unavailable', 'the issuer of the token cannot be reached: try again later')
}
