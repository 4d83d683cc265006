// Who may come in: the mode's own credentials, and what the settings add to them (OpenID Connect, context tokens).
import { createAuthenticatorChain } from '../adapters/identity/chain.ts'
import { createContextAuthorizer } from '../adapters/identity/context-token/authorizer.ts'
import { type ContextTokenConfig, type OidcConfig, readIdentityConfig } from '../config/identity.ts'
import type { Config } from '../config/load.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import { type ContextAction, contextActions } from '../rules/context-actions.ts'
import type { ContextRules } from '../rules/context-token.ts'

type IdentityParts = { ports: Ports; log: Logger; metrics: Metrics }

/** `task-create` -> `contextTokenTaskCreateScopes`. */
function readScopes(config: Config, action: ContextAction): readonly string[] {
  const words = action.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return (config as unknown as Record<string, string[] | undefined>)[`contextToken${words.join('')}Scopes`] ?? []
}

/** What the settings make of the tokens' scopes. */
export function contextRulesOf(config: Config): ContextRules {
  const actions = Object.keys(contextActions) as ContextAction[]
  const scopes = Object.fromEntries(actions.map((action) => [action, readScopes(config, action)]))
  return { mode: config.contextTokenAuthzMode, scopes: scopes as ContextRules['scopes'] }
}

function nameHeader({ header, scheme }: { header: string; scheme?: string }): string {
  const name = header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
  return scheme === undefined ? name : `${name}: ${scheme}`
}

function tellOutage(log: Logger, issuer: string) {
  return (error: unknown) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    log.warn({ issuer, why: messageOf(cause) }, 'the keys of an issuer can not be had; the kept ones stay good')
  }
}

/** Loaded only where it is on: nobody else pays for it at the start. */
async function openOidc(config: OidcConfig, { ports, log }: IdentityParts) {
  const { createOidcAuthenticator } = await import('../adapters/identity/oidc/authenticator.ts')
  if (config.allowedSubjects.length === 0) log.warn('--oidc-allowed-subjects is empty: OpenID Connect lets nobody in')
  const deps = { clock: ports.clock, onFailure: tellOutage(log, config.issuer) }
  return { issuer: config.issuer, authenticator: createOidcAuthenticator(config, deps) }
}

async function openContext(config: ContextTokenConfig, { ports, log, metrics }: IdentityParts) {
  const { createContextAuthenticator } = await import('../adapters/identity/context-token/authenticator.ts')
  const deps = { clock: ports.clock, onFailure: tellOutage(log, config.issuer) }
  return {
    authenticator: createContextAuthenticator({ settings: config, deps, observe: metrics.countContextToken }),
    acceptsBearer: config.headers.some(
      ({ header, scheme }) => header === 'authorization' && scheme?.toLowerCase() === 'bearer',
    ),
    headers: config.headers.filter(({ header }) => header !== 'authorization').map(nameHeader),
  }
}

function authorizerOf(config: Config, { ports, log, metrics }: IdentityParts) {
  return createContextAuthorizer({
    rules: contextRulesOf(config),
    ...(ports.authorizer === undefined ? {} : { next: ports.authorizer }),
    observe({ action, result, reason, caller, access }) {
      metrics.countContextAuthorization({ action, result, reason })
      if (result === 'allowed') return
      const { kind, verb, namespace } = access
      const who = { subject: caller.subject, transaction: caller.transaction?.id }
      log.warn({ ...who, action, result, reason, kind, verb, namespace }, 'context token is not authorized')
    },
  })
}

/** The ports with everybody who may come in. InvalidRequest when the settings make no sense together. */
export async function withIdentity(config: Config, parts: IdentityParts): Promise<Ports> {
  const { oidc, context } = readIdentityConfig(config)
  const own = parts.log.child({ name: 'identity' })
  const opened = { ...parts, log: own }
  const { ports } = parts
  const authenticator = createAuthenticatorChain({
    plain: [ports.authenticator],
    ...(oidc === undefined ? {} : { oidc: await openOidc(oidc, opened) }),
    ...(context === undefined ? {} : { context: await openContext(context, opened) }),
  })
  const authorizer = context === undefined ? ports.authorizer : authorizerOf(config, opened)
  return { ...ports, authenticator, ...(authorizer === undefined ? {} : { authorizer }) }
}
