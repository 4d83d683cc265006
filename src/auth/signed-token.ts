// Verifies a signed token: RS256 by a key of its issuer, then issuer, audience and times. Every fault gets the same
// refusal.
import { hash } from 'node:crypto'
import { compactVerify } from 'jose'
import { SvcError } from '../errors.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import type { Caller } from '../ports/identity/identity.ts'
import { findStanding, type IssuerRights, type Standing, type Vouched } from '../rules/identity/issuer-rights.ts'
import type { KeySet } from './key-set.ts'
import { type JoseHeader, readToken, type TokenParts } from './token-text.ts'

/** The largest difference of the issuer's clock (OIDC-012). */
const skewSeconds = 60
/** Year 2286: later times are mistaken milliseconds, or meant to last forever. */
const latestTime = 10_000_000_000

export type VerifyOptions = {
  keys: KeySet
  clock: Clock
  issuer: string
  /** The service's names; the token must be for at least one of them (RFC 7519 section 4.1.3). */
  audiences: readonly string[]
  /** Whether a header is acceptable apart from its algorithm. */
  acceptsHeader(header: JoseHeader): boolean
  /** Claims that must be non-empty strings. */
  requiredTexts: readonly string[]
  /** Numbers of RFC 7519 section 2 that are required, besides `exp`. */
  requiredTimes: readonly string[]
}

export type Claims = Record<string, unknown> & { iss: string; sub: string; exp: number }
export type VerifiedToken = { header: JoseHeader; claims: Claims; validUntilMs: number; validFromMs: number }

/** The one answer to every bad token; `why` is only for the log. */
export function refuseToken(why: string): never {
  throw new SvcError('Unauthenticated', 'invalid token', { cause: new Error(why) })
}

export function readAudiences(audience: unknown): string[] | undefined {
  const listed = typeof audience === 'string' ? [audience] : audience
  if (!Array.isArray(listed) || listed.length === 0) return undefined
  return listed.every((item) => typeof item === 'string' && item !== '') ? (listed as string[]) : undefined
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < latestTime
}

function isText(value: unknown): value is string {
  // Control characters and lone surrogates mean different things to different readers.
  return typeof value === 'string' && value.trim() !== '' && value.isWellFormed() && !/\p{Cc}/u.test(value)
}

function findTimeFault(claims: Record<string, unknown>, required: readonly string[], now: number): string | undefined {
  const missing = ['exp', ...required].find((name) => claims[name] === undefined)
  if (missing !== undefined) return `${missing} is missing`
  const malformed = ['exp', 'nbf', 'iat'].find((name) => claims[name] !== undefined && !isTime(claims[name]))
  if (malformed !== undefined) return `${malformed} is not a time`
  if ((claims.exp as number) + skewSeconds <= now) return 'expired'
  const early = ['nbf', 'iat'].find(
    (name) => claims[name] !== undefined && (claims[name] as number) - skewSeconds > now,
  )
  return early === undefined ? undefined : `${early} is in the future`
}

function findClaimFault({ claims }: TokenParts, options: VerifyOptions): string | undefined {
  const { issuer, audiences, requiredTexts } = options
  if (claims.iss !== issuer) return 'issuer'
  // Issuers name other services beside ours, such as their own account service: those are no reason to refuse it.
  if (!readAudiences(claims.aud)?.some((one) => audiences.includes(one))) return 'audience'
  const missing = ['sub', ...requiredTexts].find((name) => !isText(claims[name]))
  if (missing !== undefined) return `${missing} is missing or not a string`
  return findTimeFault(claims, options.requiredTimes, options.clock.now().getTime() / 1000)
}

async function isSigned(token: string, { header }: TokenParts, keys: KeySet): Promise<boolean> {
  for (const key of await keys.find(header.kid)) {
    const verified = await compactVerify(token, key, { algorithms: ['RS256'] }).catch(() => undefined)
    if (verified !== undefined) return true
  }
  return false
}

/** The claims of a valid token. Unauthenticated for any other; Unavailable when its issuer's keys cannot be fetched. */
export async function verifyToken(token: string, options: VerifyOptions): Promise<VerifiedToken> {
  const parts = readToken(token)
  if (parts === undefined) return refuseToken('malformed')
  const { header, claims } = parts
  if (header.alg !== 'RS256' || !options.acceptsHeader(header)) refuseToken('header')
  // Claims first, so that a token for another audience costs neither a signature check nor a request to the issuer.
  const fault = findClaimFault(parts, options)
  if (fault !== undefined) refuseToken(fault)
  if (!(await isSigned(token, parts, options.keys))) refuseToken('signature or key')
  const from = Math.max(...['nbf', 'iat'].map((name) => (claims[name] as number | undefined) ?? 0))
  return {
    header,
    claims: claims as Claims,
    validUntilMs: ((claims.exp as number) + skewSeconds) * 1000,
    validFromMs: (from - skewSeconds) * 1000,
  }
}

// Callers whose tokens were verified a moment ago, so that a signature is not checked on each request.

const maxCallers = 2_000
/** However long a token lives, it is checked again after this time, so that withdrawn keys are noticed. */
const recheckMs = 300_000

type Entry = { caller: Caller; fromMs: number; untilMs: number; generation: number }

type VerifiedCallers = {
  /** The caller of a token that is still valid, else the result of `verify`. Failures are not cached. */
  recall(token: string, verify: () => Promise<{ caller: Caller; token: VerifiedToken }>): Promise<Caller>
}

export function createVerifiedCallers({ clock, keys }: { clock: Clock; keys: KeySet }): VerifiedCallers {
  const entries = new BoundedMap<string, Entry>({
    max: maxCallers,
    age: { maxMs: recheckMs, now: () => clock.now().getTime() },
  })

  function isGood(entry: Entry | undefined): entry is Entry {
    if (entry === undefined || entry.generation !== keys.generation()) return false
    const now = clock.now().getTime()
    return now < entry.untilMs && now >= entry.fromMs
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
      entries.set(id, { caller, fromMs, untilMs, generation })
      return caller
    },
  }
}

// The rights of a caller that an issuer vouches for, or a refusal when there are none.

/** Forbidden. */
export function requireStanding(who: Vouched, rights: IssuerRights): Standing {
  const standing = findStanding(who, rights)
  if (standing !== undefined) return standing
  const what =
    rights.cluster === undefined ? 'no group of this token has a role here' : 'its name belongs to the cluster'
  throw new SvcError('Forbidden', `the subject of this token is not allowed to use the service: ${what}`)
}
