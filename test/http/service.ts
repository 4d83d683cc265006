// The HTTP side over the real SQLite adapters in a folder of its own; workloads and controllers are played by the tests.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { uuidv7 } from 'uuidv7'
import { createAgentTokens, withAgentTokens } from '../../src/auth/agent-token.ts'
import { type ChainOptions, createAuthenticatorChain } from '../../src/auth/chain.ts'
import { createWorkerTokens } from '../../src/auth/worker-tokens.ts'
import { routes } from '../../src/contract/api/index.ts'
import type { Route } from '../../src/contract/api/resources/route.ts'
import type { Kind, ResourceOf, StatusOf } from '../../src/contract/kinds/index.ts'
import { createApp } from '../../src/http/app.ts'
import type { HttpSettings } from '../../src/http/deps.ts'
import type { Ids } from '../../src/lib/clock.ts'
import { createLog, type LogLevel } from '../../src/observability/log.ts'
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts'
import type { CodeHosts } from '../../src/ports/codehost/code-host.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import type { HealthCheck, Ports } from '../../src/ports/index.ts'
import type { ConfigMaps } from '../../src/ports/resources/configmaps.ts'
import type { Egress } from '../../src/ports/service/egress.ts'
import type { ToolActors } from '../../src/ports/tools/tool-actors.ts'
import type { Sandbox } from '../../src/ports/workspaces/sandbox.ts'
import { createProxies, type ProxySettings } from '../../src/proxy/index.ts'
import { createScratch } from '../../src/runtime/folders/scratch.ts'
import { systemClock as clock } from '../../src/runtime/host/clock.ts'
import { createSignInLinks } from '../../src/store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../../src/store/identity/token-authenticator.ts'
import { createTokens } from '../../src/store/identity/tokens.ts'
import { openSecretKeys } from '../../src/store/local/secret-key.ts'
import { createEmbeddedSecrets } from '../../src/store/local/secrets.ts'
import { createRecords } from '../../src/store/records.ts'
import { createConfigMaps } from '../../src/store/resources/configmaps.ts'
import { createResources } from '../../src/store/resources/resources.ts'
import { createSecretStorage } from '../../src/store/resources/secrets.ts'
import type { RingLimits } from '../../src/store/watching/change-ring.ts'
import { createBudgetLedger, createUsecases, type UsecaseSettings } from '../../src/usecases/index.ts'
import { openMigrated } from '../fixtures/sqlite.ts'

export const ownerToken = 'owner-token-of-the-tests'

const ids: Ids = {
  next: (prefix) => (prefix === undefined ? uuidv7() : `${prefix}-${uuidv7()}`),
  hex: (length) => randomBytes(length).toString('hex').slice(0, length),
  random: Math.random,
}

export type ServiceOptions = {
  http?: Partial<HttpSettings>
  usecases?: Partial<UsecaseSettings>
  withoutPlans?: boolean
  health?: HealthCheck[]
  builtinTools?: string[]
  proxy?: Partial<ProxySettings>
  /** Calls to vendors are really made; else they fail. */
  egress?: Egress
  logLevel?: LogLevel
  /** How many changes are remembered for watches. */
  ring?: RingLimits
  /** Absent: every call of it fails. */
  codeHosts?: CodeHosts
  /** Absent: MCP servers cannot run in actors. */
  toolActors?: ToolActors
  /** Runs the code of workers in pods. */
  sandbox?: Sandbox
  /** Absent: the service's own. */
  configMaps?: ConfigMaps
  /** Who else may come in, and what decides for them. */
  identity?: { members?: Omit<ChainOptions, 'plain'>; authorizer?: Authorizer }
}

function absent<T>(what: string): T {
  return new Proxy({}, { get: () => () => Promise.reject(new Error(`${what} plays no part in these tests`)) }) as T
}

const absentCodeHosts: CodeHosts = {
  ...absent<CodeHosts>('the code host'),
  hosts: ['github.com'],
  open: () => absent('the code host'),
}

async function openPorts(options: ServiceOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-http-'))
  const database = await openMigrated(join(folder, 'svc.db'))
  const resources = await createResources(database, { clock, ids, ...(options.ring && { ring: options.ring }) })
  const { plans, ...records } = createRecords({ database, blobDir: join(folder, 'data'), clock, ids })
  const keys = await openSecretKeys(join(folder, 'secret.key'))
  const tokens = createTokens({ database, clock, ids })
  const agentTokens = createAgentTokens({ key: randomBytes(32), clock })
  const ports: Ports = {
    resources,
    records: options.withoutPlans ? records : { ...records, plans },
    secrets: createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock }),
    configMaps: options.configMaps ?? createConfigMaps({ database, clock }),
    tokens,
    signInLinks: createSignInLinks({ database, clock, ids }),
    authenticator: withAgentTokens(
      createAuthenticatorChain({
        plain: [createTokenAuthenticator({ tokens, clock, ownerToken })],
        ...options.identity?.members,
      }),
      agentTokens,
    ),
    agentTokens,
    ...(options.identity?.authorizer === undefined ? {} : { authorizer: options.identity.authorizer }),
    workerTokens: createWorkerTokens({ keys, clock }),
    workloads: absent('a workload'),
    sandbox: options.sandbox ?? absent('a sandbox'),
    scratch: createScratch({ root: join(folder, 'scratch'), clock }),
    leadership: absent('leadership'),
    egress: options.egress ?? absent('egress'),
    codeHosts: options.codeHosts ?? absentCodeHosts,
    ...(options.toolActors === undefined ? {} : { toolActors: options.toolActors }),
    clock,
    ids,
    health: options.health ?? [{ name: 'store', check: async () => {} }],
    async close() {
      await resources.close()
      await records.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return { ports, folder }
}

const builtinNames = ['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write']

const defaultProxySettings: ProxySettings = {
  defaults: { provider: '', model: '' },
  callers: { maxConcurrent: 0, requestsPerMinute: 0 },
  loop: { maxIterations: 50, maxToolCalls: 128, maxDurationMs: 60_000, toolTimeoutMs: 10_000 },
}

function makeUsecases(ports: Ports, metrics: Metrics, options: ServiceOptions) {
  const names = options.builtinTools ?? builtinNames
  const info = { builtin: true, description: 'a tool', parameters: {}, available: true } as const
  const parts = {
    ports,
    settings: {
      allowDemoProvider: true,
      ownAddresses: () => ['127.0.0.1:8080'],
      allowNetworks: [],
      idempotencyKey: randomBytes(32),
      hasActors: options.toolActors !== undefined,
      ...options.usecases,
    },
    builtinTools: { names, list: async () => names.map((name) => ({ name, ...info })) },
    ledger: createBudgetLedger(ports),
  }
  const usecases = createUsecases(parts)
  const proxySettings = { ...defaultProxySettings, observe: metrics.observeProxy, ...options.proxy }
  return { usecases, proxies: createProxies({ ...parts, health: usecases.health }, proxySettings) }
}

function findRoute(method: string, url: string): Route | undefined {
  const path = url.split('?', 1)[0]?.split('/') ?? []
  const matches = (route: Route) => {
    const parts = route.path.split('/')
    return parts.length === path.length && parts.every((part, at) => part.startsWith(':') || part === path[at])
  }
  return routes.find((route) => route.method === method && matches(route))
}

/** What the table says of a route is all that it may answer (HTTP-046). */
function checkDeclared(method: string, url: string, status: number): void {
  const route = findRoute(method, url)
  if (route !== undefined && !(status in route.responses)) {
    throw new Error(`${method} ${route.path} answered ${status}, which its route does not declare`)
  }
}

type Call = Omit<InjectOptions, 'url' | 'method'> & { token?: string | null }

export type Service = Awaited<ReturnType<typeof startService>>

export async function startService(options: ServiceOptions = {}) {
  const { ports, folder } = await openPorts(options)
  const logged: string[] = []
  const log = createLog({ level: options.logLevel ?? 'debug', write: (line) => logged.push(line) })
  const metrics = createMetrics()
  const { usecases, proxies } = makeUsecases(ports, metrics, options)
  const settings = { publicHosts: [], corsAllowedOrigins: [], version: '0.0.0', ...options.http }
  const app = createApp({ ports, usecases, proxies, settings, log, metrics })

  /** `call('POST /api/v1/tasks', { payload })`, as the owner unless told otherwise; null is without a token. */
  async function call(line: string, { token = ownerToken, headers, ...rest }: Call = {}) {
    const [method, url] = line.split(' ', 2)
    const credential = token === null ? {} : { authorization: `Bearer ${token}` }
    const sent = { method: method as 'GET', url: url ?? '/', headers: { ...credential, ...headers }, ...rest }
    const answer = await app.server.inject(sent)
    checkDeclared(method ?? '', url ?? '', answer.statusCode)
    return answer
  }

  async function setStatus<K extends Kind>(kind: K, name: string, status: StatusOf<K>, namespace = 'default') {
    const object = await ports.resources.get(kind, { namespace, name })
    if (object === undefined) throw new Error(`${kind} ${name} is not there`)
    return ports.resources.updateStatus(kind, { ...object, status } as ResourceOf<K>)
  }

  /** A token for an attempt that runs. */
  async function runTask(name: string, attempt = 1, namespace = 'default') {
    const task = await setStatus('Task', name, { phase: 'Running', attempts: attempt }, namespace)
    const identity = { taskUid: task.metadata.uid, attempt, namespace, taskName: name }
    return { task, identity, token: await ports.workerTokens.mint(identity) }
  }

  return {
    ...app,
    ports,
    folder,
    usecases,
    metrics,
    logged,
    call,
    setStatus,
    runTask,
    async listen(): Promise<string> {
      return app.server.listen({ host: '127.0.0.1', port: 0 })
    },
    async stop() {
      await app.drain(1000)
      await ports.close()
    },
  }
}

export const aiTask = (name: string, more: object = {}) => ({ name, type: 'ai', prompt: 'say hello', ...more })
