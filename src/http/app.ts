// The HTTP edge: one fastify instance with the middleware that every request passes, and the routes of the table.
import type { IncomingMessage, RequestListener } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import { routes } from '../contract/api/index.ts'
import type { Logger } from '../observability/log.ts'
import { noteWork } from '../observability/loop-watch.ts'
import { type Bind, type BindDeps, createBind } from './bind.ts'
import { type ClientAddress, createClientAddress, unmap } from './client-address.ts'
import { createDashboard } from './dashboard/dashboard.ts'
import type { HttpDeps, HttpSettings } from './deps.ts'
import { createDrain } from './drain.ts'
import { defaultHeartbeatMs, type EventStreamOptions } from './event-stream.ts'
import { bindInternalRoutes, bindRawInternalRoutes } from './internal/internal-routes.ts'
import { bindRunners } from './internal/runner-routes.ts'
import { bindWebhook } from './internal/webhook.ts'
import { answerUnread, createRefusals } from './known-paths.ts'
import { onAnswered } from './middleware/answered.ts'
import { type AttemptGuard, createAttemptGuard } from './middleware/attempt-guard.ts'
import { addAudit, answerStatus } from './middleware/audit.ts'
import { createCors } from './middleware/cors.ts'
import { sendError, toSvcError } from './middleware/error-answer.ts'
import { createRequestIds, securityHeadersOf } from './middleware/headers.ts'
import { createHostCheck } from './middleware/host-check.ts'
import { maxWorkerJsonValues, readJsonBody } from './middleware/json-body.ts'
import { createProxyEdge, type ProxyEdge } from './proxies/edge.ts'
import { bindSignIn } from './routes/identity/sign-in.ts'
import { bindPublicRoutes } from './routes/index.ts'
import { bindSarifImport } from './routes/scans/security.ts'
import { bindTaskInputs } from './routes/tasks/task-records.ts'
import { secureOptionsOf } from './tls.ts'

export type HttpApp = {
  /** Not listening yet. */
  server: FastifyInstance
  /**
   * Stops gracefully: readyz fails, event streams end with a hint to reconnect, running requests finish; whatever is
   * left after `timeoutMs` is cut off.
   */
  drain(timeoutMs: number): Promise<void>
}

const mebibyte = 1_048_576
const defaultBodyLimit = 15 * mebibyte
/** Limit for all headers of one request together. */
const maxHeaderBytes = 16_384

/** Routes have no schema of the framework's (bind.ts judges requests): its compilers, which take long to load, are never used. */
const compileNothing = () => () => {
  throw new Error('a route has a schema of the framework')
}

function makeServer(deps: HttpDeps): FastifyInstance {
  const { settings, ports } = deps
  const connections = {
    headersTimeout: settings.headersTimeoutMs ?? 20_000,
    connectionsCheckingInterval: settings.timeoutCheckMs ?? 5000,
    maxHeaderSize: maxHeaderBytes,
    // Node would answer without a body; the check of the host says what is missing.
    requireHostHeader: false,
  }
  const { tls } = settings
  const listening = tls === undefined ? { http: connections } : { https: { ...connections, ...secureOptionsOf(tls) } }
  return fastify({
    logger: false,
    bodyLimit: settings.bodyLimitBytes ?? defaultBodyLimit,
    requestTimeout: settings.requestTimeoutMs ?? 300_000,
    ...(listening as { http: typeof connections }),
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 2048 },
    schemaController: { compilersFactory: { buildValidator: compileNothing, buildSerializer: compileNothing } },
    requestIdHeader: false,
    genReqId: createRequestIds(ports.ids) as (request: IncomingMessage) => string,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A path that cannot be decoded bypasses every hook.
    frameworkErrors(error, request, reply) {
      reply.header('x-request-id', request.id).headers(securityHeadersOf(tls !== undefined))
      sendError(error, request, reply)
    },
  })
}

function addEntry(server: FastifyInstance, settings: HttpSettings, addressOf: ClientAddress): void {
  const checkHost = createHostCheck({ publicHosts: settings.publicHosts })
  const answerCors = createCors(settings.corsAllowedOrigins)
  const fixedHeaders = securityHeadersOf(settings.tls !== undefined)
  server.decorateRequest('identity', undefined)
  server.decorateRequest('clientAddress', '')
  server.decorateRequest('jsonText', undefined)
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(fixedHeaders)
    // There is no proxy in front of workers: a forwarding header there is made up.
    const { auth } = request.routeOptions.config.route ?? {}
    const isWorkers = auth === 'worker' || auth === 'runner'
    noteWork({ kind: 'request', route: request.routeOptions.url ?? 'unknown' })
    request.clientAddress = isWorkers ? unmap(request.ip) : addressOf(request.raw)
    try {
      checkHost(request.raw)
    } catch (error) {
      return done(error as Error)
    }
    if (!answerCors(request, reply)) done()
  })
}

function addBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const { route, keepsText } = request.routeOptions.config
      noteWork({ kind: 'request', route: request.routeOptions.url ?? 'unknown', size: body.length })
      const isWorkers = route?.auth === 'worker' || route?.auth === 'runner'
      const { text, value } = readJsonBody(body as Buffer, isWorkers ? maxWorkerJsonValues : undefined)
      if (keepsText) request.jsonText = text
      done(null, value)
    } catch (error) {
      done(error as Error)
    }
  })
}

function addErrors(server: FastifyInstance, log: Logger): void {
  server.setErrorHandler((error, request, reply) => {
    const known = toSvcError(error)
    // The path is not logged, because it may hold names that users chose; the pattern and the id identify the request.
    const where = { requestId: request.id, method: request.method, route: request.routeOptions.url }
    if (known.status === 500) log.error({ ...where, error: known.cause ?? known }, 'request failed')
    return sendError(known, request, reply)
  })
}

/**
 * Hands requests of the proxies over before the framework sees them; injected ones (tests) arrive through its last
 * handler.
 */
function addProxies(server: FastifyInstance, edge: ProxyEdge, { ports: { ids }, settings }: HttpDeps): void {
  const isEncrypted = settings.tls !== undefined
  const { server: http } = server
  const listeners = http.listeners('request') as RequestListener[]
  http.removeAllListeners('request')
  http.on('request', (request, response) => {
    if (edge.takes(request.url)) edge.handle(request, response)
    else for (const listener of listeners) listener(request, response)
  })
  const refuse = createRefusals(routes)
  const serveDashboard = settings.dashboard && createDashboard(settings.dashboard)
  // Before the body is examined: its type and size only matter to a route that accepts it.
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    if (edge.takes(request.raw.url)) {
      reply.hijack()
      return edge.handle(request.raw, reply.raw)
    }
    const { error, allow } = refuse(request.method, request.url)
    if (allow === undefined) return serveDashboard?.(request, reply) ? undefined : done(error)
    reply.header('allow', allow)
    done(error)
  })
  answerUnread(http, { refuse, ids, headers: securityHeadersOf(isEncrypted) })
}

function addMeasures(server: FastifyInstance, { log, metrics }: HttpDeps): void {
  onAnswered(server, (request, reply) => {
    const endpoint = request.routeOptions.url ?? 'unknown'
    const { method } = request
    const status = answerStatus(reply.raw)
    metrics.observeRequest({ endpoint, method, status, seconds: reply.elapsedTime / 1000 })
    if (log.isLevelEnabled('debug')) {
      const ms = Math.round(reply.elapsedTime * 10) / 10
      log.debug({ requestId: request.id, method, route: endpoint, status, ms }, 'request')
    }
  })
}

type RawBinding = BindDeps & { guards: { webhook: AttemptGuard } }

/** Bodies of these routes are not read until their handlers ask for them. */
function addRawRoutes(server: FastifyInstance, deps: HttpDeps, binding: RawBinding): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, next) => next(null, payload))
    const bind = createBind(scope, binding)
    bindRawInternalRoutes(bind, deps)
    bindTaskInputs(bind, deps)
    bindSarifImport(bind, deps)
    bindWebhook(bind, deps, binding.guards.webhook)
    done()
  })
}

type ProxyEntry = Pick<BindDeps, 'guards' | 'tokenHeaders'> & { addressOf: ClientAddress; draining: AbortSignal }

function makeProxyEdge(deps: HttpDeps, { guards, tokenHeaders, addressOf, draining }: ProxyEntry): ProxyEdge {
  const { ports, usecases, proxies, metrics, log } = deps
  const { publicHosts, corsAllowedOrigins, bodyLimitBytes = defaultBodyLimit } = deps.settings
  const headers = securityHeadersOf(deps.settings.tls !== undefined)
  const settings = { publicHosts, corsAllowedOrigins, tokenHeaders, bodyLimitBytes, headers }
  return createProxyEdge({
    ports,
    proxies,
    audit: usecases.audit,
    guard: guards.users,
    addressOf,
    metrics,
    log,
    settings,
    draining,
  })
}

function streamOptionsOf(
  { heartbeatMs = defaultHeartbeatMs, recheckMs }: HttpSettings,
  drain: AbortSignal,
): EventStreamOptions {
  return { heartbeatMs, drain, recheckMs }
}

/** The service's HTTP side; `server.listen` starts it. */
export function createApp(deps: HttpDeps): HttpApp {
  const log = deps.log.child({ name: 'http' })
  const server = makeServer(deps)
  const drain = createDrain(server)
  const { authFailuresPerMinute: limit = 0, trustedProxies = [] } = deps.settings
  const makeGuard = () => createAttemptGuard({ limit, clock: deps.ports.clock, log })
  const addressOf = createClientAddress(trustedProxies)
  const binding: RawBinding = {
    authenticator: deps.ports.authenticator,
    workerTokens: deps.ports.workerTokens,
    runners: deps.ports.runners,
    tokenHeaders: deps.settings.tokenHeaders ?? [],
    guards: { users: makeGuard(), workers: makeGuard(), webhook: makeGuard() },
    answers: {
      events: streamOptionsOf(deps.settings, drain.signal),
      trackStream: deps.metrics.trackStream,
    },
  }
  addEntry(server, deps.settings, addressOf)
  addBodies(server)
  addErrors(server, log)
  addMeasures(server, { ...deps, log })
  addAudit(server, deps.usecases.audit)
  const bind: Bind = createBind(server, binding)
  bindPublicRoutes(bind, { ...deps, isDraining: () => drain.signal.aborted })
  bindSignIn(bind, deps, binding.guards.users)
  bindInternalRoutes(bind, deps)
  bindRunners(bind, deps, drain.signal)
  addRawRoutes(server, deps, binding)
  addProxies(server, makeProxyEdge(deps, { ...binding, addressOf, draining: drain.signal }), deps)
  return {
    server,
    async drain(timeoutMs) {
      await drain.run(timeoutMs)
      deps.usecases.chat.close()
      await deps.proxies.close()
      await deps.usecases.health.close()
      await deps.usecases.audit.close()
    },
  }
}
