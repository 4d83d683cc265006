// Records every caller's request in the audit log: who, what and the outcome, never the content.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AccessKind, AccessVerb } from '../../contract/api/identity/access.ts'
import type { Method, Route } from '../../contract/api/resources/route.ts'
import { errorStatus, type SvcError } from '../../errors.ts'
import type { Caller, WorkerIdentity } from '../../ports/identity/identity.ts'
import type { RunnerIdentity } from '../../ports/tasks/runners.ts'
import { type AuditLog, type AuditNote, describeWho } from '../../usecases/index.ts'
import { onAnswered } from './answered.ts'

/** What the binding knows about a request so far. */
export type Trail = {
  /** The request carried a credential. */
  attempted?: boolean
  /** The caller is not allowed to do it. */
  refused?: boolean
  namespace?: string
  name?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    trail: Trail | undefined
  }
}

const methodVerbs: Record<Method, AccessVerb> = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' }
const maxNameLength = 253

type RouteAction = { verb: AccessVerb; kind?: AccessKind }

/** What a route acts on. A worker's calls are all about its own task. */
function describeRoute(route: Pick<Route, 'auth' | 'verb' | 'method'>): RouteAction {
  if (route.verb !== undefined) return route.verb
  const verb = methodVerbs[route.method]
  return route.auth === 'worker' ? { verb, kind: 'Task' } : { verb }
}

/** A caller who was not let in counts as denied; the status alone can have other reasons. */
export function isAllowed(identity: unknown, { refused }: Trail): boolean {
  return identity !== undefined && refused !== true
}

/** The trail of a request that ended with this error. */
export function markRefusal<T extends Trail>(trail: T | undefined, error: SvcError): T | undefined {
  const isRefusal = error.reason === 'Forbidden' || error.reason === 'Unauthenticated'
  return isRefusal && trail !== undefined ? { ...trail, refused: true } : trail
}

/** The answer's status; undefined for a client that disconnected before. */
export function answerStatus({ headersSent, statusCode }: Pick<ServerResponse, 'headersSent' | 'statusCode'>): number {
  return headersSent ? statusCode : errorStatus.ClientClosed
}

type AuditedAnswer = {
  route: Route
  identity: Caller | WorkerIdentity | RunnerIdentity | undefined
  trail: Trail
  status: number
}

/** Undefined when there is nobody to record: no credential at all, or a runner, which acts for nobody. */
export function describeRequest({ route, identity, trail, status }: AuditedAnswer): Omit<AuditNote, 'via'> | undefined {
  if (identity === undefined && trail.attempted !== true) return undefined
  if (identity !== undefined && 'runner' in identity) return undefined
  const { namespace, name } = trail
  return {
    ...(identity === undefined ? {} : describeWho(identity)),
    ...describeRoute(route),
    namespace,
    ...(name === undefined ? {} : { name: name.slice(0, maxNameLength) }),
    route: route.path,
    allowed: isAllowed(identity, trail),
    status,
  }
}

function readText(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const field: unknown = (value as Record<string, unknown>)[key]
  return typeof field === 'string' ? field : undefined
}

function findName(params: unknown, body: unknown): string | undefined {
  const keys = ['id', 'name', 'taskName', 'sessionId', 'provider']
  const found = keys.map((key) => readText(params, key)).find((name) => name !== undefined)
  const metadata = typeof body === 'object' && body !== null && 'metadata' in body ? body.metadata : undefined
  return found ?? readText(metadata, 'name') ?? readText(body, 'name') ?? readText(body, 'sessionId')
}

/** Records the namespace and name of a call once they are parsed. */
export function recordTrail(
  request: FastifyRequest,
  call: { namespace: string; params: unknown; body: unknown },
): void {
  const { params, body } = call
  const namespace = call.namespace || readText(params, 'namespace')
  const name = findName(params, body)
  request.trail = {
    ...request.trail,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
}

/** A request that was refused before it was parsed still names something in its path. */
function trailOf({ trail, params, query }: FastifyRequest): Trail {
  const namespace = trail?.namespace ?? readText(params, 'namespace') ?? readText(query, 'namespace')
  const name = trail?.name ?? findName(params, undefined)
  return { ...trail, ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) }
}

export function addAudit(server: FastifyInstance, log: Pick<AuditLog, 'note'>): void {
  server.decorateRequest('trail', undefined)
  onAnswered(server, (request, reply) => {
    const { route } = request.routeOptions.config
    // Without a guard of its own a route that is open to all has no trail.
    if (route === undefined || (route.auth === 'none' && request.trail === undefined)) return
    const { identity } = request
    const note = describeRequest({ route, identity, trail: trailOf(request), status: answerStatus(reply.raw) })
    if (note === undefined) return
    log.note({
      ...note,
      via: route.auth === 'worker' ? 'worker' : 'api',
      address: request.clientAddress,
      requestId: request.id,
    })
  })
}
