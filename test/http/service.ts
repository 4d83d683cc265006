// The HTTP side as the service composes it, over the stores of the embedded mode in a folder of its own; workloads and
// controllers are played by the tests.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import type { ChainOptions } from '../../src/auth/chain.ts'
import { composeApp } from '../../src/compose/app.ts'
import { databaseFile, openEmbeddedStores } from '../../src/compose/embedded-stores.ts'
import { withCallers } from '../../src/compose/identity.ts'
import { routes } from '../../src/contract/api/index.ts'
import type { Route } from '../../src/contract/api/resources/route.ts'
import type { Kind, ResourceOf, StatusOf } from '../../src/contract/kinds/index.ts'
import type { HttpSettings } from '../../src/http/deps.ts'
import { dropUndefined } from '../../src/lib/json.ts'
import { createLog, type Logger, type LogLevel } from '../../src/observability/log.ts'
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts'
import type { CodeHosts } from '../../src/ports/codehost/code-host.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import type { HealthCheck, Ports } from '../../src/ports/index.ts'
import type { ConfigMaps } from '../../src/ports/resources/configmaps.ts'
import type { Egress } from '../../src/ports/service/egress.ts'
import type { ToolActors } from '../../src/ports/tools/tools.ts'
import type { Sandbox } from '../../src/ports/workspaces/sandbox.ts'
import type { ProxySettings } from '../../src/proxy/index.ts'
import { createScratch } from '../../src/runtime/folders/scratch.ts'
import { createClosing } from '../../src/service/closing.ts'
import type { RingLimits } from '../../src/store/watching/change-ring.ts'
import { createBudgetLedger, type UsecaseSettings } from '../../src/usecases/index.ts'
import { copyMigrated } from '../fixtures/sqlite.ts'

export const ownerToken = 'owner-token-of-the-tests'

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
  /** Absent: there are none. */
  executionWorkspaces?: Ports['executionWorkspaces']
  /** Runs the code of workers in pods. */
  sandbox?: Sandbox
  /** Absent: there are none. */
  runners?: Ports['runners']
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

/** What the tests play themselves. */
const absentPorts = {
  workloads: absent<Ports['workloads']>('a workload'),
  sandbox: absent<Sandbox>('a sandbox'),
  leadership: absent<Ports['leadership']>('leadership'),
  egress: absent<Egress>('egress'),
  codeHosts: absentCodeHosts,
}

const everyNamespace = { served: [], isolated: false }

async function openPorts(options: ServiceOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-http-'))
  const closing = createClosing()
  closing.add(() => rm(folder, { recursive: true, force: true }))
  await copyMigrated(databaseFile(folder))
  const { ring, withoutPlans, identity, sandbox, egress, codeHosts, toolActors, configMaps, health } = options
  const { executionWorkspaces, runners } = options
  const store = { dataDir: folder, secretKeyFile: join(folder, 'secret.key'), ownerToken }
  const stored = await openEmbeddedStores({ ...store, ...(ring && { ring }) }, closing)
  const { plans, ...records } = stored.records
  const parts = dropUndefined({
    executionWorkspaces,
    runners,
    sandbox,
    egress,
    codeHosts,
    toolActors,
    configMaps,
    health,
  })
  const own: Ports = {
    ...absentPorts,
    ...stored.ports,
    ...parts,
    records: withoutPlans ? records : stored.records,
    scratch: createScratch({ root: join(folder, 'scratch'), clock: stored.ports.clock }),
    close: closing.run,
  }
  const ports = withCallers(own, randomBytes(32), identity?.members ?? {}, everyNamespace)
  return { ports: { ...ports, ...dropUndefined({ authorizer: identity?.authorizer }) }, folder }
}

const builtinNames = ['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write']

const defaultProxySettings: ProxySettings = {
  defaults: { provider: '', model: '' },
  callers: { maxConcurrent: 0, requestsPerMinute: 0 },
  loop: { maxIterations: 50, maxToolCalls: 128, maxDurationMs: 60_000, toolTimeoutMs: 10_000 },
}

function openApp(ports: Ports, log: Logger, metrics: Metrics, options: ServiceOptions) {
  const names = options.builtinTools ?? builtinNames
  const info = { builtin: true, description: 'a tool', parameters: {}, available: true } as const
  const builtinTools = { names, list: async () => names.map((name) => ({ name, ...info })) }
  const usecases = {
    allowDemoProvider: true,
    ownAddresses: () => ['127.0.0.1:8080'],
    allowNetworks: [],
    idempotencyKey: randomBytes(32),
    hasActors: options.toolActors !== undefined,
    ...options.usecases,
  }
  const proxies = { ...defaultProxySettings, observe: metrics.observeProxy, ...options.proxy }
  const http = { publicHosts: [], corsAllowedOrigins: [], version: '0.0.0', ...options.http }
  const parts = { ports, builtinTools, ledger: createBudgetLedger(ports), log, metrics }
  return composeApp(parts, { usecases, proxies, http })
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
  const { app, usecases } = openApp(ports, log, metrics, options)

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
