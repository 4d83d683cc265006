// The chain of authenticators: decides which one checks a credential. Exactly one verdict counts; a failure is never
// retried elsewhere, except between the service's own tokens and the cluster's, which look alike from outside.
import { isSvcError, SvcError } from '../errors.ts'
import type { Authenticator, Caller, Credential } from '../ports/identity/identity.ts'
import { contextTokenType, looksSigned, peekToken } from './token-text.ts'

export type ChainOptions = {
  /**
   * Tried in order when no other authenticator claims the token: the service's own tokens, the cluster's TokenReview.
   */
  plain: readonly Authenticator[]
  oidc?: { issuer: string; authenticator: Authenticator }
  context?: {
    authenticator: Authenticator
    /** Whether `Authorization: Bearer` may carry one (CTX-015). */
    acceptsBearer: boolean
    /** Names of the headers for them, for the hint. */
    headers: readonly string[]
  }
}

function refuse(): never {
  throw new SvcError('Unauthenticated', 'invalid token')
}

function hint(headers: readonly string[]): never {
  throw new SvcError(
    'Unauthenticated',
    `send a context token in the header ${headers.join(' or ')}, not as a bearer token`,
  )
}

/** The first caller that one of them recognizes; any failure except "not mine" ends the search. */
async function tryInTurn(members: readonly Authenticator[], credential: Credential): Promise<Caller> {
  for (const member of members) {
    try {
      return await member.authenticate(credential)
    } catch (error) {
      if (!isSvcError(error, 'Unauthenticated')) throw error
    }
  }
  return refuse()
}

export function createAuthenticatorChain({ plain, oidc, context }: ChainOptions): Authenticator {
  const takesSigned = oidc !== undefined || context !== undefined

  function chooseSigned({ token, source }: Credential): Authenticator | undefined {
    const { typ, iss } = peekToken(token)
    if (context !== undefined && typ === contextTokenType) {
      if (context.acceptsBearer && source === 'bearer') return context.authenticator
      hint(context.headers)
    }
    return oidc !== undefined && iss === oidc.issuer ? oidc.authenticator : undefined
  }

  return {
    async authenticate(credential) {
      // A token in its own header decides alone, whatever else the request contains.
      if (credential.source === 'context') return context?.authenticator.authenticate(credential) ?? refuse()
      const chosen = takesSigned && looksSigned(credential.token) ? chooseSigned(credential) : undefined
      return chosen?.authenticate(credential) ?? tryInTurn(plain, credential)
    },
  }
}
