// The proxies' edge. Its requests bypass the framework: a body is read once as bytes, and every error has its family's
// form.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { routes } from '../../contract/api/index.ts'
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Logger } from '../../observability/log.ts'
import { noteWork } from '../../observability/loop-watch.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { Proxies } from '../../proxy/index.ts'
import type { LoopPlan } from '../../proxy/request.ts'
import type { Asker, Endpoint, ProxyFamily } from '../../proxy/types.ts'
import { type AuditLog, callerNamespace } from '../../usecases/index.ts'
import type { ClientAddress } from '../client-address.ts'
import { refuseMethod } from '../known-paths.ts'
import type { AttemptGuard } from '../middleware/attempt-guard.ts'
import { answerStatus, describeRequest, isAllowed } from '../middleware/audit.ts'
import { createCorsHeaders } from '../middleware/cors.ts'
import { type CredentialHeader, readCredential } from '../middleware/credentials.ts'
import { createRequestIds } from '../middleware/headers.ts'
import { createHostCheck } from '../middleware/host-check.ts'
import { bindPassthrough, createReplyWriter, type Reply, sendFamilyError, sendFrames, sendJson } from './reply.ts'
import {
  checkBodyHeaders,
  type FoundProxyRoute,
  findProxyRoute,
  type ProxyRoute,
  pickUpstreamHeaders,
  readBody,
} from './request-body.ts'

export type ProxyEdgeDeps = {
  ports: Pick<Ports, 'authenticator' | 'ids'>
  proxies: Proxies
  audit: Pick<AuditLog, 'note' | 'keeps'>
  guard: AttemptGuard
  addressOf: ClientAddress
  metrics: Metrics
  log: Logger
  settings: {
    publicHosts: readonly string[]
    corsAllowedOrigins: readonly string[]
    tokenHeaders: readonly CredentialHeader[]
    bodyLimitBytes: number
    /** Headers of every answer. */
    headers: Readonly<Record<string, string>>
  }
  /** Aborted when the service drains. */
  draining: AbortSignal
}

export type ProxyEdge = {
  /** Whether this edge answers the request target. */
  takes(target: string | undefined): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
}

/** By method and path, for the audit log. */
const proxyRoutes = new Map(
  routes.filter(({ family }) => family !== undefined).map((route) => [`${route.method} ${route.path}`, route]),
)

const prefix = /^\/(llma|llmo)(?:[/?]|$)/
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

type Query = { namespace?: string; rest: string }

/** Only the namespace is for the service; the rest of the query goes to the vendor. */
function readQuery(text: string): Query {
  if (text === '') return { rest: '' }
  const query = new URLSearchParams(text)
  const namespace = query.get('namespace')
  if (namespace === null) return { rest: text }
  if (!namespaceName.test(namespace)) {
    throw new SvcError('InvalidRequest', 'namespace: must be a name of lower-case letters, digits and hyphens')
  }
  query.delete('namespace')
  return { namespace, rest: query.toString() }
}

type Edge = ProxyEdgeDeps & {
  makeId: (request: IncomingMessage) => string
  checkHost: (request: IncomingMessage) => void
  corsHeaders: (origin: string | undefined) => Record<string, string>
  fixedHeaders: readonly string[]
}

type Exchange = { request: IncomingMessage; response: ServerResponse; arrivedAt: number }

function openReply(edge: Edge, { request, response }: Exchange, family: ProxyFamily): Reply {
  const { origin } = request.headers
  const cors = origin === undefined ? [] : Object.entries(edge.corsHeaders(origin)).flat()
  // Clients with a kept-alive connection find the next server by themselves.
  const closing = edge.draining.aborted ? ['connection', 'close'] : []
  const headers = [...edge.fixedHeaders, ...cors, ...closing]
  return { family, request, response, requestId: edge.makeId(request), headers, trail: {} }
}

function identify(edge: Edge, reply: Reply, route: ProxyRoute): Promise<Caller> {
  const { request, requestId } = reply
  const credential = readCredential(request.headers, edge.settings.tokenHeaders)
  reply.trail.attempted = true
  const { authenticator } = edge.ports
  const source = { address: edge.addressOf(request), requestId, connection: request.socket, route: route.path }
  return edge.guard(source, {
    token: credential.token,
    isOwn: () => authenticator.recognizes?.(credential) ?? false,
    check: () => authenticator.authenticate(credential),
  })
}

async function runLoop(edge: Edge, reply: Reply, plan: LoopPlan): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort(new SvcError('ClientClosed', 'the client closed the connection'))
  reply.response.once('close', leave)
  if (reply.response.destroyed) leave()
  try {
    const answer = await plan.answer(gone.signal)
    const headers = Object.entries(answer.headers).flat()
    if ('body' in answer) sendJson(reply, answer.status, answer.body, headers)
    else {
      reply.response.once('close', edge.metrics.trackStream())
      await sendFrames(reply, answer)
    }
    plan.done('ok')
  } catch (error) {
    plan.done(gone.signal.aborted ? 'aborted' : 'failed')
    throw error
  } finally {
    reply.response.off('close', leave)
  }
}

type Read = { family: ProxyFamily; id: string; who: Asker }

/** What is answered without a request to a model. */
const reads: Partial<Record<ProxyRoute['endpoint'], (proxies: Proxies, read: Read) => Promise<JsonObject>>> = {
  models: (proxies, { family, who }) => proxies.listModels(family, who),
  model: (proxies, { family, id, who }) => proxies.getModel(family, id, who),
  stored_response: (proxies, { id, who }) => proxies.getResponse(id, who),
  deleted_response: (proxies, { id, who }) => proxies.deleteResponse(id, who),
}

async function serve(edge: Edge, reply: Reply, route: ProxyRoute, arrivedAt: number): Promise<void> {
  const { request, response, family, requestId } = reply
  const { proxies, settings, metrics } = edge
  edge.checkHost(request)
  const query = readQuery(route.query)
  const caller = await identify(edge, reply, route)
  const namespace = callerNamespace(caller, query.namespace)
  Object.assign(reply.trail, { caller, namespace })
  const { id = '' } = route
  const who = { caller, namespace }
  const read = reads[route.endpoint]
  if (read !== undefined) return sendJson(reply, 200, await read(proxies, { family, id, who }))
  checkBodyHeaders(request, settings.bodyLimitBytes)
  const plan = await proxies.plan({
    endpoint: route.endpoint as Endpoint,
    caller,
    namespace,
    body: await readBody(request, settings.bodyLimitBytes),
    query: query.rest,
    headers: pickUpstreamHeaders(request.headers, family),
    serverTools: request.headers['x-svc-tools'] !== 'disabled',
    requestId,
    arrivedAt,
  })
  if ('answer' in plan) return runLoop(edge, reply, plan)
  const writer = createReplyWriter(reply, {
    onStream: () => void response.once('close', metrics.trackStream()),
    answerBy: (other) => void runLoop(edge, reply, other).catch((error) => fail(edge, reply, route, error)),
  })
  bindPassthrough(reply, plan.startPassthrough(writer))
}

function fail({ log }: Edge, reply: Reply, route: ProxyRoute, error: unknown): void {
  const known = sendFamilyError(reply, error)
  if (known.status !== 500) return
  const where = { requestId: reply.requestId, method: reply.request.method, route: route.path }
  log.error({ ...where, error: known.cause ?? known }, 'request failed')
}

function noteRequest(
  { audit, addressOf }: Edge,
  { request, response, requestId, trail }: Reply,
  endpoint: ProxyRoute | undefined,
): void {
  const status = answerStatus(response)
  if (!audit.keeps({ allowed: isAllowed(trail.caller, trail), verb: 'use', via: 'proxy' })) return
  const { caller: identity, ...known } = trail
  const route = endpoint && proxyRoutes.get(`${endpoint.method} ${endpoint.path}`)
  const note = route && describeRequest({ route, identity, trail: known, status })
  if (note !== undefined) audit.note({ ...note, via: 'proxy', address: addressOf(request), requestId })
}

function watch(edge: Edge, reply: Reply, route: ProxyRoute | undefined, arrivedAt: number) {
  const endpoint = route?.path ?? 'unknown'
  const { metrics, log } = edge
  const { request, response, requestId } = reply
  noteWork({ kind: 'proxy', route: endpoint, size: Number(request.headers['content-length'] ?? 0) })
  response.once('close', () => {
    const ms = performance.now() - arrivedAt
    const method = request.method ?? ''
    const status = answerStatus(response)
    metrics.observeRequest({ endpoint, method, status, seconds: ms / 1000 })
    noteRequest(edge, reply, route)
    if (!log.isLevelEnabled('debug')) return
    log.debug({ requestId, method, route: endpoint, status, ms: Math.round(ms * 10) / 10 }, 'request')
  })
  // What a client does to its connection is not a fault of the service.
  response.on('error', () => {})
}

/** The path does not exist, or not with this method. */
function refuse(reply: Reply, { methods, path }: FoundProxyRoute): void {
  const { error, allow } = refuseMethod(reply.request.method ?? '', path, methods)
  sendFamilyError(reply, error, allow === undefined ? [] : ['allow', allow])
}

export function createProxyEdge(deps: ProxyEdgeDeps): ProxyEdge {
  const edge: Edge = {
    ...deps,
    log: deps.log.child({ name: 'proxies' }),
    makeId: createRequestIds(deps.ports.ids),
    checkHost: createHostCheck({ publicHosts: deps.settings.publicHosts }),
    corsHeaders: createCorsHeaders(deps.settings.corsAllowedOrigins),
    fixedHeaders: Object.entries(deps.settings.headers).flat(),
  }
  return {
    takes: (target) => target !== undefined && prefix.test(target),
    handle(request, response) {
      const arrivedAt = performance.now()
      const target = request.url ?? ''
      const reply = openReply(edge, { request, response, arrivedAt }, target.startsWith('/llmo') ? 'llmo' : 'llma')
      const found = findProxyRoute(request.method ?? '', target)
      const { route } = found
      watch(edge, reply, route, arrivedAt)
      if (route === undefined) refuse(reply, found)
      else serve(edge, reply, route, arrivedAt).catch((error) => fail(edge, reply, route, error))
    },
  }
}
