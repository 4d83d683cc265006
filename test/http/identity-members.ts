// OpenID Connect and context tokens of one issuer, as the composition root sets them up, for the HTTP app in process.
import { createContextAuthenticator } from '../../src/auth/context-token/authenticator.ts'
import { type ContextAuthorization, createContextAuthorizer } from '../../src/auth/context-token/authorizer.ts'
import { createOidcAuthenticator } from '../../src/auth/oidc/authenticator.ts'
import type { Clock } from '../../src/lib/clock.ts'
import {
  type ContextAction,
  type ContextMode,
  type ContextRules,
  contextActions,
} from '../../src/rules/identity/context-token.ts'
import type { GroupRole } from '../../src/rules/identity/issuer-rights.ts'
import { audience, type Issuer } from '../fixtures/issuer.ts'
import type { ServiceOptions } from './service.ts'

const clock: Clock = { now: () => new Date(), sleep: () => Promise.resolve() }

export const defaultScopes = Object.fromEntries(
  Object.entries(contextActions).map(([action, scope]) => [action, [scope]]),
) as unknown as Record<ContextAction, string[]>

export type MemberOptions = {
  allowedSubjects?: string[]
  acceptsBearer?: boolean
  /** Where callers by OpenID Connect are at home. */
  namespace?: string
  groupRoles?: readonly GroupRole[]
  mode?: ContextMode
  observe?: (authorization: ContextAuthorization) => void
}

export function trustIssuer(
  issuer: Issuer,
  options: MemberOptions = {},
): Required<Pick<ServiceOptions, 'identity' | 'http'>> {
  const { allowedSubjects = ['repo:acme/*'], acceptsBearer = false, mode = 'enforce', observe } = options
  const { namespace = 'guests', groupRoles } = options
  const rights = { namespace, ...(groupRoles === undefined ? {} : { groupRoles }) }
  const settings = { issuer: issuer.url, audiences: [audience] }
  const rules: ContextRules = { mode, scopes: defaultScopes }
  const oidc = createOidcAuthenticator({ ...settings, ...rights, allowedSubjects }, { clock })
  return {
    identity: {
      members: {
        oidc: { issuer: issuer.url, authenticator: oidc },
        context: {
          authenticator: createContextAuthenticator({
            settings: { ...settings, namespace: 'default' },
            deps: { clock },
          }),
          acceptsBearer,
          headers: ['Txn-Token'],
        },
      },
      authorizer: createContextAuthorizer({ rules, ...(observe === undefined ? {} : { observe }) }),
    },
    http: {
      tokenHeaders: [
        { header: 'txn-token' },
        ...(acceptsBearer ? [{ header: 'authorization', scheme: 'Bearer' }] : []),
      ],
    },
  }
}
