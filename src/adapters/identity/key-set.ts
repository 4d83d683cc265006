// The public keys of an issuer, kept: asked for once, again when they are old, and when a token names one that is not there.
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../ports/clock.ts'

/** Keys that are older are asked for again before they are used, so that a withdrawn one is noticed. */
const maxAgeMs = 300_000
/** Unknown key ids make us ask at most this often (OIDC-011). */
const cooldownMs = 60_000
/** While there are no keys at all. */
const retryMs = 5_000
const mostKeys = 100
/** Of a token without `kid`, so that one token does not cost a hundred verifications. */
const mostCandidates = 4

export type KeySet = {
  /** Keys that may have signed. Unavailable when there are none because the issuer is away. */
  find(kid: string | undefined): Promise<CryptoKey[]>
  /** Rises when the keys change: what was verified before must be verified again. */
  generation(): number
}

export type KeySetOptions = {
  /** The JWKS document. Rejects when it cannot be had. */
  load(): Promise<Record<string, unknown>>
  clock: Clock
  /** Told when the issuer is away; kept keys stay good. */
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
    // Nothing but the numbers: no certificate and no address of the document plays a part.
    const key = (await importJWK({ kty, n, e }, 'RS256')) as CryptoKey
    return [{ kid, thumb: `${kid ?? ''}|${n}|${e}`, key }]
  } catch {
    return []
  }
}

async function readKeys(document: Record<string, unknown>): Promise<Known[]> {
  const listed = Array.isArray(document.keys) ? document.keys.slice(0, mostKeys) : []
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

  /** One request at a time, whoever waits for it. A failure is told, and thrown only where there is nothing to go by. */
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
    return matching.slice(0, mostCandidates).map(({ key }) => key)
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
