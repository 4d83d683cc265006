// Who the service trusts: issuers of tokens, and proxies in front of it.
import { z } from 'zod'
import { booleanValue, define, duration, names, networks, oneOf, textValue, whole } from '../fields.ts'

const address = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://issuer.example.com' })
  .optional()

const origins = names.pipe(
  z.array(z.url({ protocol: /^https?$/, error: 'must be addresses such as https://tokens.example.com' })),
)

function scopes(scope: string) {
  return define(names.default([scope]), {
    help: 'scopes that allow this; a context token needs one of them',
    placeholder: 'scope,...',
  })
}

function authorization(whom: string) {
  return define(oneOf(['namespace', 'rbac']).default('namespace'), {
    help: `what limits ${whom}: one namespace, or the RBAC of the cluster by SubjectAccessReview`,
  })
}

function prefix(what: string, otherwise: string) {
  return define(textValue.optional(), {
    help: `text before ${what} where the cluster is asked; - means none (default: ${otherwise})`,
    example: 'issuer:',
    placeholder: 'text',
  })
}

/** Applies to every caller. */
export const callerSettings = {
  enforceNamespaceIsolation: define(booleanValue.default(false), {
    help: 'keep every caller in their own namespace, but for the owner and those of issuers for whom rbac decides, and references of resources in theirs; callers without a namespace are refused',
  }),
  authFailuresPerMinute: define(whole(0).default(100), {
    help: 'failed authentications per minute and address above which more get 429 (the same credential again counts once); 0 means no limit',
  }),
  trustedProxies: define(networks.default([]), {
    help: 'proxies whose headers say where a request comes from (X-Forwarded-For, Forwarded)',
    example: '10.0.0.0/8',
    placeholder: 'cidr,...',
  }),
} as const

/** Callers with OpenID Connect tokens. */
export const oidcSettings = {
  oidcIssuer: define(address, {
    help: 'issuer of OpenID Connect tokens that are accepted',
    example: 'https://issuer.example.com',
    placeholder: 'url',
  }),
  oidcAudience: define(names.default([]), {
    help: 'audience that those tokens must be for, alone or among others; of several, one suffices',
    example: 'svc',
    placeholder: 'name,...',
  }),
  oidcJwksUrl: define(address, {
    help: 'keys of the issuer (default: what its metadata says)',
    example: 'https://issuer.example.com/keys',
    placeholder: 'url',
  }),
  oidcAllowedSubjects: define(names.default([]), {
    help: 'subjects that may use the service, with * and ?; nobody when empty',
    example: 'user-*',
    placeholder: 'pattern,...',
  }),
  oidcNamespace: define(textValue.default('default'), {
    help: 'namespace of OpenID Connect callers (default: the one that is served, else default)',
    placeholder: 'name',
  }),
  oidcAuthorization: authorization('OpenID Connect callers'),
  oidcUsernamePrefix: prefix('their subjects', 'the issuer and #'),
  oidcGroupsPrefix: prefix('their groups', 'that of the subjects'),
  oidcRoleMapping: define(names.default([]), {
    help: 'roles of groups, * being everybody: viewer, runner, editor, owner (default: all are editors)',
    example: 'developers=editor',
    placeholder: 'group=role,...',
  }),
  oidcSignInClientId: define(textValue.optional(), {
    help: 'client id of the dashboard at the issuer: a public client with the redirect /signin/callback; without it nobody signs in there by the issuer',
    example: 'svc-dashboard',
    placeholder: 'id',
  }),
  oidcSignInScopes: define(names.default(['openid', 'profile', 'email']), {
    help: 'scopes that the dashboard asks for',
    placeholder: 'scope,...',
  }),
  oidcSignInTokenKind: define(oneOf(['access', 'id']).default('access'), {
    help: "which of the issuer's tokens the dashboard sends",
  }),
  oidcSignInOrigins: define(origins.default([]), {
    help: "origins that a sign-in calls besides the issuer's, such as that of its token endpoint",
    example: 'https://tokens.example.com',
    placeholder: 'origin,...',
  }),
} as const

/** Callers with context tokens, and how those are passed on. */
export const contextTokenSettings = {
  contextTokenProfile: define(oneOf(['kontxt']).optional(), { help: 'profile of context tokens; off when absent' }),
  contextTokenIssuer: define(address, {
    help: 'issuer of context tokens',
    example: 'https://tokens.example.com',
    placeholder: 'url',
  }),
  contextTokenAudience: define(names.default([]), {
    help: 'audience that context tokens must be for, alone or among others; of several, one suffices',
    example: 'svc',
    placeholder: 'name,...',
  }),
  contextTokenNamespace: define(textValue.default('default'), {
    help: 'namespace of callers whose context token names none in tctx.namespace',
    placeholder: 'name',
  }),
  contextTokenAuthorization: authorization('callers with a context token'),
  contextTokenUsernamePrefix: prefix('their subjects', 'the issuer and #'),
  contextTokenJwksUrl: define(address, {
    help: 'keys of that issuer (default: /.well-known/jwks.json below it)',
    example: 'https://tokens.example.com/keys',
    placeholder: 'url',
  }),
  contextTokenHeaders: define(names.default(['Txn-Token']), {
    help: 'headers that carry context tokens; Authorization:Bearer accepts them as bearer tokens',
    placeholder: 'header[:scheme],...',
  }),
  contextTokenAuthzMode: define(oneOf(['off', 'audit', 'enforce']).default('off'), {
    help: 'whether scopes and constraints of context tokens decide; audit only logs what enforce would refuse',
  }),
  contextTokenTaskCreateScopes: scopes('svc:tasks:create'),
  contextTokenTaskReadScopes: scopes('svc:tasks:get'),
  contextTokenTaskListScopes: scopes('svc:tasks:list'),
  contextTokenTaskDeleteScopes: scopes('svc:tasks:delete'),
  contextTokenTaskUpdateScopes: scopes('svc:tasks:update'),
  contextTokenToolReadScopes: scopes('svc:tools:read'),
  contextTokenToolWriteScopes: scopes('svc:tools:write'),
  contextTokenToolUseScopes: scopes('svc:tools:use'),
  contextTokenProviderUseScopes: scopes('svc:providers:use'),
  contextTokenProviderWriteScopes: scopes('svc:providers:write'),
  contextTokenSecretReadScopes: scopes('svc:secrets:read'),
  contextTokenSecretWriteScopes: scopes('svc:secrets:write'),
  contextTokenSecretCredentialReadScopes: scopes('svc:secrets:credentials:read'),
  contextTokenConfigmapReadScopes: scopes('svc:configmaps:read'),
  contextTokenAgentReadScopes: scopes('svc:agents:read'),
  contextTokenAgentWriteScopes: scopes('svc:agents:write'),
  contextTokenMemoryReadScopes: scopes('svc:memory:read'),
  contextTokenMemoryWriteScopes: scopes('svc:memory:write'),
  contextTokenSessionReadScopes: scopes('svc:sessions:read'),
  contextTokenSessionWriteScopes: scopes('svc:sessions:write'),
  contextTokenSecurityReadScopes: scopes('svc:security:read'),
  contextTokenSecurityWriteScopes: scopes('svc:security:write'),
  contextTokenMonitorReadScopes: scopes('svc:monitors:read'),
  contextTokenMonitorWriteScopes: scopes('svc:monitors:write'),
  contextTokenMonitorOperateScopes: scopes('svc:monitors:operate'),
  contextTokenSkillReadScopes: scopes('svc:skills:read'),
  contextTokenSkillWriteScopes: scopes('svc:skills:write'),
  contextTokenUsageReadScopes: scopes('svc:usage:read'),
  contextTokenNetworkWriteScopes: scopes('svc:network:write'),
  contextTokenTtsUrl: define(address, {
    help: 'service that exchanges context tokens; off when absent',
    example: 'https://tokens.example.com/token',
    placeholder: 'url',
  }),
  contextTokenTtsAudience: define(textValue.optional(), {
    help: 'audience requested from that service',
    example: 'svc',
    placeholder: 'name',
  }),
  contextTokenTtsTimeout: define(duration.default('5s'), {
    help: 'longest wait for an exchange',
    placeholder: 'duration',
  }),
  contextTokenTtsTokenSource: define(oneOf(['serviceAccount', 'incoming', 'none']).default('serviceAccount'), {
    help: "what is exchanged: the own service-account token, the caller's context token, or nothing",
  }),
  contextTokenSubjectTokenType: define(textValue.optional(), {
    help: 'type of the exchanged token (default: access_token of a service account, else txn_token)',
    example: 'urn:ietf:params:oauth:token-type:access_token',
    placeholder: 'urn',
  }),
  contextTokenChildScope: define(textValue.optional(), {
    help: 'scope of the tokens of child tasks; needed for their exchange',
    example: 'svc:tasks:create',
    placeholder: 'scope ...',
  }),
  contextTokenOutboundScope: define(textValue.optional(), {
    help: "scope of the tokens that tools send (default: the task's own)",
    example: 'tools:call',
    placeholder: 'scope ...',
  }),
  contextTokenChildTokenTtl: define(duration.default('5m'), {
    help: 'lifetime requested for tokens of child tasks',
    placeholder: 'duration',
  }),
  contextTokenToolTokenTtl: define(duration.default('2m'), {
    help: 'lifetime requested for tokens that tools send',
    placeholder: 'duration',
  }),
} as const
