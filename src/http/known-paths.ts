// Tells an unknown path (404) from a known one with another method (405 with Allow, HTTP-009).
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from '../contract/api/route.ts'
import { SvcError } from '../errors.ts'

type KnownPath = { pattern: RegExp; methods: Set<string> }

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(/:[A-Za-z]+/g, '[^/]+')}$`)
}

function groupByPath(routes: readonly Route[]): KnownPath[] {
  const paths = new Map<string, KnownPath>()
  for (const { path, method, stream } of routes) {
    const known = paths.get(path) ?? { pattern: toPattern(path), methods: new Set<string>() }
    known.methods.add(method)
    if (method === 'GET' && stream === undefined) known.methods.add('HEAD')
    paths.set(path, known)
  }
  return [...paths.values()]
}

/** The handler of everything that no route took. */
export function createNotFoundHandler(
  routes: readonly Route[],
): (request: FastifyRequest, reply: FastifyReply) => void {
  const paths = groupByPath(routes)
  return (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = paths.filter((known) => known.pattern.test(path)).flatMap((known) => [...known.methods])
    if (methods.length === 0) {
      throw new SvcError('NotFound', `there is nothing at ${path.slice(0, 200)}; see /openapi.json`)
    }
    const allow = [...new Set(methods)].join(', ')
    reply.header('allow', allow)
    throw new SvcError('MethodNotAllowed', `${request.method} is not a method of ${path.slice(0, 200)}; use ${allow}`)
  }
}
