// Distinguishes an unknown path (404) from a known one with the wrong method (405 with Allow, HTTP-009).
import type { Route } from '../contract/api/resources/route.ts'
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

/** Why no route accepts a request, and the value of `Allow` when the path is known. */
export type RouteRefusal = { error: SvcError; allow?: string }

/** `methods`: those of the path; empty when the path does not exist. */
export function refuseMethod(method: string, path: string, methods: readonly string[]): RouteRefusal {
  const shown = path.slice(0, 200)
  if (methods.length === 0)
    return { error: new SvcError('NotFound', `there is nothing at ${shown}; see /openapi.json`) }
  const allow = methods.join(', ')
  return { error: new SvcError('MethodNotAllowed', `${method} is not a method of ${shown}; use ${allow}`), allow }
}

/** Builds the answer to a request without a route; `target` is its path with the query. */
export function createRefusals(routes: readonly Route[]): (method: string, target: string) => RouteRefusal {
  const paths = groupByPath(routes)
  return (method, target) => {
    const path = target.split('?', 1)[0] ?? ''
    const methods = paths.filter((known) => known.pattern.test(path)).flatMap((known) => [...known.methods])
    return refuseMethod(method, path, [...new Set(methods)])
  }
}
