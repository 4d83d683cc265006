// Who may call: the mode's own credentials, and what the settings add (OpenID Connect, context tokens).
import { createAgentTokens, withAgentTokens } from '../auth/agent-token.ts'
import { createAuthenticatorChain } from '../auth/chain.ts'
import { createContextAuthorizer } from '../auth/context-token/authorizer.ts'
import type { IncomingTokens } from '../auth/context-token/incoming.ts'
import { guardNamespace, placeCallers } from '../auth/namespace-policy.ts'
import { type ContextTokenConfig, type OidcConfig, readIdentityConfig } from '../config/identity.ts'
import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { TokenExchange } from '../ports/identity/identity.ts'
import type { Ports } from '../ports/index.ts'
import { type ContextAction, contextActions } from '../rules/identity/context-actions.ts'
import type { ContextRules } from '../rules/identity/context-token.ts'
import type { IssuerRights } from '../rules/identity/issuer-rights.ts'
import type { PropagationSettings } from '../rules/identity/token-propagation.ts'

import { contextTokenRightsOf, oidcRightsOf } from './issuer-rights.ts'

type IdentityParts = { ports: Ports; log: Logger; metrics: Metrics }

/** `task-create` -> `contextTokenTaskCreateScopes`. */
function readScopes(config: Config, action: ContextAction): readonly string[] {
  const words = action.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return (config as unknown as Record<string, string[] | undefined>)[`contextToken${words.join('')}Scopes`] ?? []
}

/** The mapping of token scopes from the settings. */
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
    log.warn({ issuer, why: messageOf(cause) }, 'the keys of an issuer cannot be fetched; the stored ones stay valid')
  }
}

/** Loaded only when enabled, so that others do not pay for it at start-up. */
async function openOidc(config: OidcConfig & IssuerRights, { ports, log }: IdentityParts) {
  const { createOidcAuthenticator } = await import('../auth/oidc/authenticator.ts')
  if (config.allowedSubjects.length === 0) log.warn('--oidc-allowed-subjects is empty: OpenID Connect lets nobody in')
  const deps = { clock: ports.clock, onFailure: tellOutage(log, config.issuer) }
  return { issuer: config.issuer, authenticator: createOidcAuthenticator(config, deps) }
}

async function openContext(
  config: ContextTokenConfig & IssuerRights,
  parts: IdentityParts & { incoming?: IncomingTokens },
) {
  const { ports, log, metrics, incoming } = parts
  const { createContextAuthenticator } = await import('../auth/context-token/authenticator.ts')
  const deps = { clock: ports.clock, onFailure: tellOutage(log, config.issuer) }
  return {
    authenticator: createContextAuthenticator({
      settings: config,
      deps,
      observe: metrics.countContextToken,
      incomingTokens: incoming,
    }),
    acceptsBearer: config.headers.some(
      ({ header, scheme }) => header === 'authorization' && scheme?.toLowerCase() === 'bearer',
    ),
    headers: config.headers.filter(({ header }) => header !== 'authorization').map(nameHeader),
  }
}

function authorizerOf(config: Config, { ports, log, metrics }: IdentityParts) {
  return createContextAuthorizer({
    rules: contextRulesOf(config),
    next: ports.authorizer,
    observe({ action, result, reason, caller, access }) {
      metrics.countContextAuthorization({ action, result, reason })
      if (result === 'allowed') return
      const { kind, verb, namespace } = access
      const who = { subject: caller.subject, transaction: caller.transaction?.id }
      log.warn({ ...who, action, result, reason, kind, verb, namespace }, 'context token is not authorized')
    },
  })
}

/** What the settings say about propagated tokens; undefined when context tokens are off. */
export function propagationOf(config: Config): PropagationSettings | undefined {
  if (readIdentityConfig(config).context === undefined) return undefined
  const { contextTokenChildScope: childScope, contextTokenOutboundScope: outboundScope } = config
  return {
    childScope,
    outboundScope,
    childTtlMs: parseDuration(config.contextTokenChildTokenTtl),
    toolTtlMs: parseDuration(config.contextTokenToolTokenTtl),
  }
}

type Exchange = { tokenExchange: TokenExchange; incoming: IncomingTokens }

/** Undefined without an exchange service. */
async function openExchange(config: Config, { ports, log, metrics }: IdentityParts): Promise<Exchange | undefined> {
  const { contextTokenTtsUrl: url, contextTokenTtsAudience: audience } = config
  const { contextTokenTtsTokenSource: source, contextTokenSubjectTokenType: subjectTokenType } = config
  if (url === undefined) return undefined
  const [{ createTokenExchange }, { createIncomingTokens }, { readServiceAccountToken }] = await Promise.all([
    import('../auth/context-token/exchange.ts'),
    import('../auth/context-token/incoming.ts'),
    import('../auth/context-token/own-token.ts'),
  ])
  if (source === 'serviceAccount' && (await readServiceAccountToken()) === undefined) {
    log.warn('there is no service-account token to exchange here: choose another --context-token-tts-token-source')
  }
  const incoming = createIncomingTokens()
  const settings = {
    url,
    timeoutMs: parseDuration(config.contextTokenTtsTimeout),
    source,
    audience,
    subjectTokenType,
  }
  const tokenExchange = createTokenExchange({
    settings,
    clock: ports.clock,
    readOwnToken: readServiceAccountToken,
    incomingTokens: incoming,
    observe: metrics.observeTokenExchange,
  })
  return { tokenExchange, incoming }
}

/** `key`: the service's, the same across restarts and replicas. */
type AllIdentityParts = IdentityParts & { key: Uint8Array }

/** The ports with all configured callers. InvalidRequest when the settings contradict each other. */
export async function withIdentity(config: Config, parts: AllIdentityParts): Promise<Ports> {
  const { oidc, context } = readIdentityConfig(config)
  const own = parts.log.child({ name: 'identity' })
  const opened = { ...parts, log: own }
  const { ports } = parts
  const exchange = context === undefined ? undefined : await openExchange(config, opened)
  // Tokens of requests are kept only if they will be exchanged.
  const isKept = config.contextTokenTtsTokenSource === 'incoming' && exchange !== undefined
  const remembered = isKept ? { incoming: exchange.incoming } : {}
  const agentTokens = createAgentTokens({ key: parts.key, clock: ports.clock })
  const authenticator = createAuthenticatorChain({
    plain: [ports.authenticator],
    ...(oidc === undefined ? {} : { oidc: await openOidc({ ...oidc, ...oidcRightsOf(config) }, opened) }),
    ...(context === undefined
      ? {}
      : { context: await openContext({ ...context, ...contextTokenRightsOf(config) }, { ...opened, ...remembered }) }),
  })
  const decided = context === undefined ? ports.authorizer : authorizerOf(config, opened)
  const { watchNamespace: served, enforceNamespaceIsolation: isolated } = config
  const authorizer = served.length === 0 ? decided : guardNamespace(served, decided)
  return {
    ...ports,
    authenticator: withAgentTokens(placeCallers(authenticator, { served, isolated }), agentTokens),
    agentTokens,
    authorizer,
    tokenExchange: exchange?.tokenExchange,
  }
}
