// Context tokens of the profile `kontxt`: signed transactions that say who is asking, through which workload, and for
// what.
import { Name } from '../../contract/kinds/resources/metadata.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { Authenticator, Caller, CallerTransaction } from '../../ports/identity/identity.ts'
import type { IssuerRights } from '../../rules/identity/issuer-rights.ts'
import { fetchObject } from '../document.ts'
import { createKeySet } from '../key-set.ts'
import type { IssuerDeps } from '../oidc/authenticator.ts'
import {
  createVerifiedCallers,
  readAudiences,
  refuseToken,
  requireStanding,
  type VerifiedToken,
  type VerifyOptions,
  verifyToken,
} from '../signed-token.ts'
import { contextTokenType } from '../token-text.ts'
import type { IncomingTokens } from './exchange.ts'

export const contextProfile = 'kontxt'

export type ContextTokenSettings = IssuerRights & {
  issuer: string
  audiences: readonly string[]
  /** Absent: `<issuer>/.well-known/jwks.json`. */
  jwksUrl?: string
}

/** Bounds of what a task keeps of it (TASK-015). */
const maxTextLength = 1024
const maxScopeLength = 8192
const maxScopes = 256

function jwksUrlOf({ issuer, jwksUrl }: ContextTokenSettings): string {
  return jwksUrl ?? `${trimTrailing(issuer, '/')}/.well-known/jwks.json`
}

function readObject(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined) return {}
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  return value as Record<string, unknown>
}

/** The transaction of verified claims; the required ones are known to be strings. */
function readTransaction({ claims, header }: VerifiedToken): CallerTransaction {
  const [context, requesterContext] = [readObject(claims.tctx), readObject(claims.rctx)]
  if (context === undefined || requesterContext === undefined) return refuseToken('tctx or rctx is not an object')
  const scope = String(claims.scope)
  const [id, requestingWorkload] = [String(claims.txn), String(claims.req_wl)]
  const scopes = [...new Set(scope.split(' ').filter((word) => word !== ''))]
  if ([id, requestingWorkload, claims.sub, ...scopes].some((text) => text.length > maxTextLength))
    refuseToken('too long')
  if (scope.length > maxScopeLength || scopes.length > maxScopes) refuseToken('too many scopes')
  return {
    profile: contextProfile,
    type: header.typ ?? '',
    id,
    issuer: claims.iss,
    subject: claims.sub,
    audience: readAudiences(claims.aud) ?? [],
    scope,
    scopes,
    requestingWorkload,
    context,
    requesterContext,
  }
}

/** A value that names things in stores, addresses and folders must be a valid name: Forbidden otherwise. */
function requireName(namespace: string): string {
  if (Name.safeParse(namespace).success) return namespace
  throw new SvcError('Forbidden', 'tctx.namespace of this context token is not the name of a namespace')
}

/**
 * Forbidden for a caller without rights here. Without a readable namespace in the context, the settings' one applies.
 */
function toCaller(transaction: CallerTransaction, rights: IssuerRights): Caller {
  const { subject, issuer, scopes, context } = transaction
  const { namespace } = context
  const signed = typeof namespace === 'string' && namespace !== '' ? { namespace: requireName(namespace) } : {}
  return {
    authType: 'contextToken',
    username: subject,
    uid: subject,
    groups: [],
    subject,
    issuer,
    roles: scopes,
    transaction,
    ...requireStanding({ subject, groups: [], ...signed }, rights),
    serverTools: true,
  }
}

export type ContextAuthenticatorOptions = {
  settings: ContextTokenSettings
  deps: IssuerDeps
  /** Remembers the incoming token, if it is to be exchanged. */
  incomingTokens?: Pick<IncomingTokens, 'keep'>
  /** Called with every token that was checked. */
  observe?: (result: 'accepted' | 'refused' | 'unavailable') => void
}

function verifyOptionsOf(settings: ContextTokenSettings, clock: Clock, keys: VerifyOptions['keys']): VerifyOptions {
  return {
    keys,
    clock,
    issuer: settings.issuer,
    audiences: settings.audiences,
    acceptsHeader: ({ typ, kid }) => typ === contextTokenType && kid !== undefined,
    requiredTexts: ['txn', 'scope', 'req_wl'],
    requiredTimes: ['iat'],
  }
}

export function createContextAuthenticator(authenticatorOptions: ContextAuthenticatorOptions): Authenticator {
  const { settings, deps, observe, incomingTokens } = authenticatorOptions
  const { clock, onFailure } = deps
  const load = () => fetchObject(jwksUrlOf(settings), deps.fetch === undefined ? {} : { fetch: deps.fetch })
  const keys = createKeySet({ load, clock, onFailure })
  const callers = createVerifiedCallers({ clock, keys })
  const options = verifyOptionsOf(settings, clock, keys)

  async function verify(text: string) {
    const token = await verifyToken(text, options)
    const transaction = readTransaction(token)
    incomingTokens?.keep(transaction, text)
    return { caller: toCaller(transaction, settings), token }
  }

  return {
    async authenticate({ token }) {
      try {
        const caller = await callers.recall(token, () => verify(token))
        observe?.('accepted')
        return caller
      } catch (error) {
        observe?.(outcomeOf(error))
        throw error
      }
    },
  }
}

function outcomeOf(error: unknown): 'refused' | 'unavailable' {
  return error instanceof Error && 'reason' in error && error.reason === 'Unavailable' ? 'unavailable' : 'refused'
}
