// Parses one call: parameters, query, headers and body by the schemas of its route; reports every problem at once
// (HTTP-004).
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { wordsOfKind } from '../contract/api/identity/access.ts'
import type { Route, RouteBody, RouteHeaders, RouteParams, RouteQuery } from '../contract/api/resources/route.ts'
import { joinPath, parse, problemsOf, refuse } from '../contract/schema/validation.ts'
import { type Problem, SvcError } from '../errors.ts'
import type { Caller, WorkerIdentity } from '../ports/identity/identity.ts'
import type { RunnerIdentity } from '../ports/tasks/runners.ts'
import { callerNamespace } from '../usecases/index.ts'

type CallerOf<R extends Route> = R['auth'] extends 'user'
  ? Caller
  : R['auth'] extends 'worker'
    ? WorkerIdentity
    : R['auth'] extends 'runner'
      ? RunnerIdentity
      : undefined

export type Call<R extends Route> = {
  caller: CallerOf<R>
  /** Where a user's call acts: the namespace it names, else the caller's own, else `default`. Empty: in all of them. */
  namespace: string
  /** What a user's path names there by `name` or `id`. */
  key: { namespace: string; name: string }
  /** The same of what is no object but a record. */
  record: { namespace: string; id: string }
  params: RouteParams<R>
  query: RouteQuery<R>
  headers: RouteHeaders<R>
  body: RouteBody<R>
  request: FastifyRequest
}

type Part = 'params' | 'query' | 'headers'

function readPart(schema: z.ZodType | undefined, input: unknown, problems: Problem[]): unknown {
  if (schema === undefined) return {}
  const result = parse(schema, input)
  if (result.success) return result.data
  problems.push(...problemsOf(result.error))
  return {}
}

/** Names in a path, a query and headers must not contain NUL, which would cut them short in other programs. */
function readSimple(route: Route, part: Part, request: FastifyRequest, problems: Problem[]): unknown {
  const before = problems.length
  const value = readPart(route[part], request[part], problems)
  if (part === 'headers') {
    for (const problem of problems.slice(before)) problem.path = joinPath('headers', problem.path)
  }
  return value
}

/** A misspelled parameter would otherwise silently widen the request. */
function findUnknownParameters(route: Route, request: FastifyRequest): Problem[] {
  if (!route.path.startsWith('/api/v1/')) return []
  const known = Object.keys(route.query?.shape ?? {})
  const unknown = Object.keys(request.query as object).filter((name) => !known.includes(name))
  const hint = known.length === 0 ? 'this route takes none' : `there are ${known.join(', ')}`
  return unknown.map((name) => ({ path: name, message: `is not a parameter of this route; ${hint}` }))
}

/** A key that is silently ignored would let the caller believe that repeating is safe. Vendors get theirs passed on. */
function findUnkeptKey(route: Route, { headers }: FastifyRequest): Problem[] {
  const isKept = route.family !== undefined || 'idempotency-key' in (route.headers?.shape ?? {})
  const isAccepted = route.method !== 'POST' || isKept || route.ignoresIdempotencyKey === true
  if (isAccepted || headers['idempotency-key'] === undefined) return []
  const message =
    'is not supported by this route; leave it out, and look at what there is before you repeat the request'
  return [{ path: 'headers.idempotency-key', message }]
}

function readBody(route: Route, request: FastifyRequest, problems: Problem[]): unknown {
  if (route.body === undefined) return undefined
  const body = request.body ?? (route.bodyOptional ? {} : undefined)
  if (body !== undefined) return readPart(route.body, body, problems)
  throw new SvcError('InvalidRequest', 'the body is empty; send a JSON object')
}

function namespaceIn(value: unknown): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if ('namespace' in value && typeof value.namespace === 'string') return value.namespace
  return 'metadata' in value ? namespaceIn(value.metadata) : undefined
}

function findNamespace(query: unknown, body: unknown, problems: Problem[]): string | undefined {
  const inQuery = namespaceIn(query)
  const inBody = namespaceIn(body)
  if (inQuery !== undefined && inBody !== undefined && inQuery !== inBody) {
    problems.push({ path: 'namespace', message: `is "${inQuery}" in the query, but "${inBody}" in the body` })
  }
  return inBody ?? inQuery
}

/** Whether a list is asked for over all namespaces. */
function isEverywhere(query: unknown, named: string | undefined, problems: Problem[]): boolean {
  const { allNamespaces: isAll = false, namespaces } = query as { allNamespaces?: boolean; namespaces?: unknown }
  const other = namespaces === undefined ? 'namespace' : 'namespaces'
  if (isAll && (named ?? namespaces) !== undefined) {
    problems.push({ path: 'allNamespaces', message: `cannot be used together with ${other}; leave one of them out` })
  }
  return isAll
}

/** What a problem is said of: the object that the body is, as of `repository scan`, else the request. */
function nameOf({ method, path, body, verb, responses }: Route): string {
  const isObject = method === 'PUT' ? /^[^:]*\/:\w+$/.test(path) : 201 in responses && !path.includes(':')
  if (body === undefined || verb === undefined || !isObject) return 'request'
  return wordsOfKind(verb.kind)
}

/** The parsed call, or InvalidRequest with every problem found in it. */
export function parseCall<R extends Route>(route: R, request: FastifyRequest, identity: unknown): Call<R> {
  const problems: Problem[] = []
  const params = readSimple(route, 'params', request, problems)
  const query = readSimple(route, 'query', request, problems)
  problems.push(...findUnknownParameters(route, request))
  const headers = readSimple(route, 'headers', request, problems)
  problems.push(...findUnkeptKey(route, request))
  const body = readBody(route, request, problems)
  const wanted = route.auth === 'user' ? findNamespace(query, body, problems) : undefined
  const isNowhere = route.auth !== 'user' || isEverywhere(query, wanted, problems)
  refuse(nameOf(route), problems)
  const namespace = isNowhere ? '' : callerNamespace(identity as Caller, wanted)
  const { name, id } = params as { name?: string; id?: string }
  const named = { key: { namespace, name: name ?? id }, record: { namespace, id } }
  return { caller: identity, namespace, ...named, params, query, headers, body, request } as Call<R>
}
