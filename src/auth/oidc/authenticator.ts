// OpenID Connect: tokens of one issuer, for one audience, of the subjects that the operator allows.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Authenticator } from '../../ports/identity/identity.ts'
import type { IssuerRights } from '../../rules/identity/issuer-rights.ts'
import { createSubjectCheck } from '../../rules/resources/wildcards.ts'
import type { FetchLike } from '../document.ts'
import { createKeySet } from '../key-set.ts'
import { refuseToken, type VerifyOptions, verifyToken } from '../signed-token.ts'
import type { TokenHeader } from '../token-text.ts'
import { createVerifiedCallers } from '../verified-callers.ts'
import { toCaller } from './claims.ts'
import { loadIssuerKeys } from './discovery.ts'

export type OidcSettings = IssuerRights & {
  issuer: string
  /** The service's audiences; a token that is also for another one is refused. */
  audiences: readonly string[]
  jwksUrl?: string
  /** Patterns with `*` and `?`; an empty list allows nobody. */
  allowedSubjects: readonly string[]
}

export type IssuerDeps = {
  clock: Clock
  fetch?: FetchLike
  /** Called when the issuer cannot be reached. */
  onFailure?: (error: unknown) => void
}

const longestSubject = 1024
/** ID tokens and access tokens (RFC 9068); tokens for another purpose are refused (RFC 8725 section 3.11). */
const types = new Set(['jwt', 'at+jwt', 'application/at+jwt', 'application/jwt'])

function acceptsType({ typ }: TokenHeader): boolean {
  return typ === undefined || types.has(typ.toLowerCase())
}

export function createOidcAuthenticator(settings: OidcSettings, deps: IssuerDeps): Authenticator {
  const { issuer, jwksUrl } = settings
  const { clock, onFailure } = deps
  const address = { issuer, jwksUrl }
  const load = () => loadIssuerKeys(address, deps.fetch === undefined ? {} : { fetch: deps.fetch })
  const keys = createKeySet({ load, clock, onFailure })
  const callers = createVerifiedCallers({ clock, keys })
  const isAllowed = createSubjectCheck(settings.allowedSubjects)
  const options: VerifyOptions = {
    keys,
    clock,
    issuer,
    audiences: settings.audiences,
    acceptsHeader: acceptsType,
    requiredTexts: [],
    requiredTimes: [],
  }

  async function verify(text: string) {
    const token = await verifyToken(text, options)
    const { sub } = token.claims
    if (sub.length > longestSubject) refuseToken('subject too long')
    // Known but not allowed (OIDC-013): checked last, so that nobody can find out which subjects are.
    if (!isAllowed(sub)) throw new SvcError('Forbidden', 'the subject of this token is not allowed to use the service')
    return { caller: toCaller(token.claims, settings), token }
  }

  return { authenticate: ({ token }) => callers.recall(token, () => verify(token)) }
}
