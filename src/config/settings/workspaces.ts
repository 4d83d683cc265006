// Execution workspaces of agent tasks: who provides them, how long they are waited for and kept.
import { z } from 'zod'
import { booleanValue, define, duration, oneOf, retention, textValue, whole } from '../fields.ts'

const address = z.url('must be an address such as http://sandbox-router.svc:8080')

/** Execution workspaces of agent tasks, whoever provides them. */
export const workspacesSettings = {
  executionWorkspaceDefaultProvider: define(oneOf(['agent-sandbox', 'actor']).default('agent-sandbox'), {
    help: 'who provides the execution workspace of an agent task that names no provider',
  }),
  executionWorkspaceQuota: define(whole(0).default(20), {
    help: 'execution workspaces of one namespace at a time, retained ones included; 0 means no limit',
  }),
  executionWorkspaceRetention: define(retention.default('24h'), {
    help: 'how long an execution workspace that nobody uses is retained; then it is deleted',
    placeholder: 'duration',
  }),
  executionWorkspaceIdle: define(duration.default('10m'), {
    help: 'how long what runs in a retained workspace goes on; then it is suspended, which keeps its files',
    placeholder: 'duration',
  }),
  executionWorkspaceHourlyCost: define(z.coerce.number('must be a number').min(0, 'must not be negative').default(0), {
    help: 'what one hour of an execution workspace costs, for the list of those that are retained; 0: unknown',
  }),
} as const

/** Sandboxes of a cluster; in embedded mode folders of this machine. */
export const agentSandboxSettings = {
  agentSandboxEnabled: define(booleanValue.optional(), {
    help: 'provide workspaces by agent-sandbox (default: in embedded mode, where this machine provides them, yes; else no)',
    example: 'true',
  }),
  agentSandboxRouterUrl: define(address.optional(), {
    help: 'kubernetes mode: address of the router of sandboxes; without it commands go through the API of the cluster',
    example: 'http://sandbox-router-svc.agent-sandbox-system.svc:8080',
    placeholder: 'url',
  }),
  agentSandboxRouterToken: define(textValue.optional(), {
    help: 'what the router of sandboxes asks for (Authorization: Bearer)',
    secret: true,
  }),
  agentSandboxDefaultTemplate: define(textValue.optional(), {
    help: 'template of tasks that name none (default: none; in embedded mode `default`)',
    example: 'svc-agents',
    placeholder: 'name',
  }),
  agentSandboxWarmPoolPolicy: define(oneOf(['disabled', 'template']).default('disabled'), {
    help: 'kubernetes mode: whether a sandbox is taken from the warm pool of its template',
  }),
  agentSandboxNamespaceStrategy: define(oneOf(['task', 'controller']).default('task'), {
    help: "kubernetes mode: whether claims are made in the namespace of the task or in the service's own",
  }),
  agentSandboxClaimTimeout: define(duration.default('2m'), {
    help: 'how long a task waits until its sandbox is ready',
    placeholder: 'duration',
  }),
  agentSandboxCommandTimeout: define(duration.default('30m'), {
    help: 'longest run of an attempt in a sandbox',
    placeholder: 'duration',
  }),
  agentSandboxCleanupPolicy: define(oneOf(['delete', 'retain']).default('delete'), {
    help: 'what becomes of a sandbox at the end of a task that does not say it',
  }),
} as const

/** Durable actors. */
export const actorSettings = {
  actorEnabled: define(booleanValue.default(false), {
    help: 'kubernetes mode: provide workspaces and MCP tools by actors',
  }),
  actorApiEndpoint: define(textValue.default('api.ate-system.svc:443'), {
    help: 'host and port of the control service of actors (gRPC)',
    placeholder: 'host:port',
  }),
  actorRouterUrl: define(address.default('http://atenet-router.ate-system.svc'), {
    help: 'address of the router of actors',
    placeholder: 'url',
  }),
  actorApiCaFile: define(textValue.optional(), {
    help: 'file with the certificates (PEM) that the control service of actors is trusted by',
    example: '/etc/svc-actors/ca.crt',
    placeholder: 'file',
  }),
  actorApiTokenFile: define(textValue.optional(), {
    help: 'file with the token that is shown to the control service of actors with each call; read anew for each',
    example: '/var/run/secrets/svc-actors/token',
    placeholder: 'file',
  }),
  actorApiInsecureSkipVerify: define(booleanValue.default(false), {
    help: 'do not check the certificate of the control service of actors; for tests',
  }),
  actorActorDnsSuffix: define(textValue.default('actors.resources.substrate.ate.dev'), {
    help: 'what the names of hosts of actors end with',
    placeholder: 'domain',
  }),
  actorDefaultTemplate: define(textValue.optional(), {
    help: 'template of tasks that name none',
    example: 'svc-agents',
    placeholder: 'name',
  }),
  actorDefaultTemplateNamespace: define(textValue.optional(), {
    help: 'namespace of templates whose namespace a task does not name (default: that of the task)',
    example: 'actor-templates',
    placeholder: 'namespace',
  }),
  actorBootstrapTokenSecretName: define(textValue.optional(), {
    help: 'Secret with the token that authorises the first call of an actor; needed for workspaces',
    example: 'actor-bootstrap',
    placeholder: 'name',
  }),
  actorBootstrapTokenSecretKey: define(textValue.default('token'), {
    help: 'entry of that Secret',
    placeholder: 'entry',
  }),
  actorSessionIdentityTokenSecretName: define(textValue.optional(), {
    help: 'Secret with the token that asks for identities of sessions (default: none are asked for)',
    example: 'actor-identity',
    placeholder: 'name',
  }),
  actorSessionIdentityTokenSecretKey: define(textValue.default('token'), {
    help: 'entry of that Secret',
    placeholder: 'entry',
  }),
  actorSessionIdentityRequired: define(booleanValue.default(false), {
    help: 'fail an attempt for whose session no identity is minted',
  }),
  actorSessionIdentityMintCert: define(booleanValue.default(false), {
    help: 'not supported: identities are tokens only',
  }),
  actorSessionIdentityAudience: define(textValue.optional(), {
    help: 'audience of identities of sessions',
    example: 'svc',
    placeholder: 'audience',
  }),
  actorSessionIdentityAppId: define(textValue.optional(), {
    help: 'app of identities of sessions',
    example: 'svc',
    placeholder: 'id',
  }),
  actorSessionIdentityUserId: define(textValue.optional(), {
    help: 'user of identities of sessions',
    example: 'svc',
    placeholder: 'id',
  }),
  actorClaimTimeout: define(duration.default('2m'), {
    help: 'how long a task waits until its actor is ready',
    placeholder: 'duration',
  }),
  actorCommandTimeout: define(duration.default('30m'), {
    help: 'longest run of an attempt in an actor',
    placeholder: 'duration',
  }),
  actorCleanupPolicy: define(oneOf(['delete', 'retain']).default('delete'), {
    help: 'what becomes of an actor at the end of a task that does not say it',
  }),
} as const
