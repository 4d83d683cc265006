// Who may call: the mode's own credentials, and what the settings add (OpenID Connect, context tokens).
import { createAgentTokens, withAgentTokens } from '../auth/agent-token.ts'
import { type ChainOptions, createAuthenticatorChain } from '../auth/chain.ts'
import { createContextAuthorizer } from '../auth/context-token/authorizer.ts'
import type { IncomingTokens } from '../auth/context-token/exchange.ts'
import { assignNamespaces, guardNamespace, type NamespacePolicy } from '../auth/namespace-policy.ts'
import { type ContextTokenConfig, type OidcConfig, readIdentityConfig } from '../config/identity.ts'
import type { Config } from '../config/load.ts'
import { environmentNameOf, flagOf, type SettingName } from '../config/settings.ts'
import { type Role, roles } from '../contract/api/identity/access.ts'
import type { OidcSignIn } from '../contract/api/identity/auth.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { messageOf, SvcError } from '../errors.ts'
import type { HttpSettings } from '../http/deps.ts'
import { dashboardFolder } from '../launch/program-files.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { TokenExchange } from '../ports/identity/identity.ts'
import type { Ports } from '../ports/index.ts'
import { type ContextAction, type ContextRules, contextActions } from '../rules/identity/context-token.ts'
import type { GroupRole, IssuerRights } from '../rules/identity/issuer-rights.ts'
import type { PropagationSettings } from '../rules/identity/token-propagation.ts'

function refuseSetting(name: SettingName, message: string): never {
  const path = `--${flagOf(name)} (${environmentNameOf(name)})`
  throw new SvcError('InvalidRequest', `bad configuration: ${path} ${message}`, { details: [{ path, message }] })
}

/** As for the API server: by default the issuer and `#`; `-` is none. */
function prefixOf(prefix: string | undefined, otherwise: string): string {
  if (prefix === undefined) return otherwise
  return prefix === '-' ? '' : prefix
}

function requireCluster(config: Config, name: SettingName): void {
  if (config.mode !== 'kubernetes') refuseSetting(name, 'rbac needs --mode kubernetes: there is no cluster to ask here')
}

/** `group=role`; names of groups may have a `=` of their own. */
function readGroupRole(text: string): GroupRole {
  const end = text.lastIndexOf('=')
  const [group, role] = [text.slice(0, end), text.slice(end + 1)]
  if (end < 1 || !roles.includes(role as Role))
    refuseSetting('oidcRoleMapping', `"${text}" must be group=role, with one of the roles ${roles.join(', ')}`)
  return { group, role: role as Role }
}

function readGroupRoles(config: Config): readonly GroupRole[] | undefined {
  const found = config.oidcRoleMapping.map(readGroupRole)
  if (found.length === 0) return undefined
  if (config.oidcAuthorization === 'rbac')
    refuseSetting('oidcRoleMapping', 'has no meaning with --oidc-authorization=rbac: bind roles of the cluster')
  if (config.mode === 'kubernetes' && found.some(({ role }) => role === 'owner'))
    refuseSetting('oidcRoleMapping', 'can make nobody the owner of a cluster: choose editor, runner or viewer')
  return found
}

/** InvalidRequest for settings that contradict each other. */
export function oidcRightsOf(config: Config): Omit<IssuerRights, 'namespace'> {
  const groupRoles = readGroupRoles(config)
  if (config.oidcAuthorization === 'namespace') return groupRoles === undefined ? {} : { groupRoles }
  requireCluster(config, 'oidcAuthorization')
  const username = prefixOf(config.oidcUsernamePrefix, `${config.oidcIssuer ?? ''}#`)
  return { cluster: { username, groups: prefixOf(config.oidcGroupsPrefix, username) } }
}

/** InvalidRequest for settings that contradict each other. */
export function contextTokenRightsOf(config: Config): Omit<IssuerRights, 'namespace'> {
  if (config.contextTokenAuthorization === 'namespace') return {}
  requireCluster(config, 'contextTokenAuthorization')
  const username = prefixOf(config.contextTokenUsernamePrefix, `${config.contextTokenIssuer ?? ''}#`)
  return { cluster: { username, groups: username } }
}

function listIssuers(config: Config): OidcSignIn[] {
  const { oidc } = readIdentityConfig(config)
  const { oidcSignInClientId: clientId, oidcSignInScopes: scopes, oidcSignInTokenKind: tokenKind } = config
  if (oidc === undefined || clientId === undefined) return []
  const { issuer } = oidc
  return [{ name: new URL(issuer).host, issuer, clientId, scopes, tokenKind }]
}

/** The page may call the issuers, and what else they name, but nobody else. */
export function readSignIn(config: Config): Pick<HttpSettings, 'dashboard' | 'signIn'> {
  const signIn = listIssuers(config)
  const called = signIn.length === 0 ? [] : [...signIn.map(({ issuer }) => issuer), ...config.oidcSignInOrigins]
  const connectOrigins = [...new Set(called.map((address) => new URL(address).origin))]
  return { signIn, dashboard: config.dashboard ? { folder: dashboardFolder, connectOrigins } : undefined }
}

type IdentityParts = { ports: Ports; log: Logger; metrics: Metrics }

/** `task-create` -> `contextTokenTaskCreateScopes`. */
function readScopes(config: Config, action: ContextAction): readonly string[] {
  const words = action.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return (config as unknown as Record<string, string[] | undefined>)[`contextToken${words.join('')}Scopes`] ?? []
}

/** The mapping of token scopes from the settings. */
function contextRulesOf(config: Config): ContextRules {
  const actions = Object.keys(contextActions) as ContextAction[]
  const scopes = Object.fromEntries(actions.map((action) => [action, readScopes(config, action)]))
  return { mode: config.contextTokenAuthzMode, scopes: scopes as ContextRules['scopes'] }
}

function nameHeader({ header, scheme }: { header: string; scheme?: string }): string {
  const name = header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
  return scheme === undefined ? name : `${name}: ${scheme}`
}

function logOutage(log: Logger, issuer: string) {
  return (error: unknown) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    log.warn({ issuer, why: messageOf(cause) }, 'the keys of an issuer cannot be fetched; the stored ones stay valid')
  }
}

/** Loaded only when enabled, so that others do not pay for it at start-up. */
async function openOidc(config: OidcConfig & IssuerRights, { ports, log }: IdentityParts) {
  const { createOidcAuthenticator } = await import('../auth/oidc/authenticator.ts')
  if (config.allowedSubjects.length === 0) log.warn('--oidc-allowed-subjects is empty: OpenID Connect lets nobody in')
  const deps = { clock: ports.clock, onFailure: logOutage(log, config.issuer) }
  return { issuer: config.issuer, authenticator: createOidcAuthenticator(config, deps) }
}

async function openContext(
  config: ContextTokenConfig & IssuerRights,
  parts: IdentityParts & { incoming?: IncomingTokens },
) {
  const { ports, log, metrics, incoming } = parts
  const { createContextAuthenticator } = await import('../auth/context-token/authenticator.ts')
  const deps = { clock: ports.clock, onFailure: logOutage(log, config.issuer) }
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
    import('../auth/context-token/exchange.ts'),
    import('../auth/context-token/exchange.ts'),
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

type Members = Omit<ChainOptions, 'plain'>

/** The ports with everybody who may call: by credentials of the mode, by those of `members`, and agents of tasks, whose tokens are under the key. */
export function withCallers(ports: Ports, key: Uint8Array, members: Members, policy: NamespacePolicy): Ports {
  const agentTokens = createAgentTokens({ key, clock: ports.clock })
  const chain = createAuthenticatorChain({ plain: [ports.authenticator], ...members })
  return { ...ports, authenticator: withAgentTokens(assignNamespaces(chain, policy), agentTokens), agentTokens }
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
  const members = {
    ...(oidc === undefined ? {} : { oidc: await openOidc({ ...oidc, ...oidcRightsOf(config) }, opened) }),
    ...(context === undefined
      ? {}
      : { context: await openContext({ ...context, ...contextTokenRightsOf(config) }, { ...opened, ...remembered }) }),
  }
  const decided = context === undefined ? ports.authorizer : authorizerOf(config, opened)
  const { watchNamespace: served, enforceNamespaceIsolation: isolated } = config
  const authorizer = served.length === 0 ? decided : guardNamespace(served, decided)
  return {
    ...withCallers(ports, parts.key, members, { served, isolated }),
    authorizer,
    tokenExchange: exchange?.tokenExchange,
  }
}
