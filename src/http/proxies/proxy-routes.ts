// The routes of the proxies, found by path.

import { proxyEndpoints } from '../../contract/api/providers/proxies.ts'
import type { Endpoint } from '../../proxy/types.ts'

export type ProxyRoute = {
  /** The path of the route, with `:model` for the id of a model. */
  path: string
  endpoint: Endpoint | 'models' | 'model'
  /** The rest of a model's path, decoded; ids may contain a slash, which clients write as it is or as `%2F`. */
  model?: string
  /** Without the question mark. */
  query: string
}

export type FoundProxyRoute = { route: ProxyRoute | undefined; methods: string[]; path: string }

const modelPath = /^(\/(?:llma|llmo)\/v1\/models\/)(.+)$/s

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The route's path, with a model id in its variable part. */
function readModelPath(path: string): { path: string; model?: string } {
  const [, base, model] = modelPath.exec(path) ?? []
  return base === undefined || model === undefined ? { path } : { path: `${base}:model`, model: decode(model) }
}

/** The route of a request; without one, the methods that its path supports. */
export function findProxyRoute(method: string, target: string): FoundProxyRoute {
  const mark = target.indexOf('?')
  const asked = mark === -1 ? target : target.slice(0, mark)
  const { path, model } = readModelPath(asked)
  const known = proxyEndpoints.get(path)
  if (known === undefined) return { route: undefined, methods: [], path: asked }
  const isRead = known.method === 'GET'
  if (method === known.method || (isRead && method === 'HEAD')) {
    const query = mark === -1 ? '' : target.slice(mark + 1)
    const route = { path, endpoint: known.endpoint, query, model }
    return { route, methods: [], path: asked }
  }
  return { route: undefined, methods: isRead ? ['GET', 'HEAD'] : ['POST'], path: asked }
}
