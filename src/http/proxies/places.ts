// The paths of the proxies, from the route table.
import { proxyEndpoints } from '../../contract/api/proxies.ts'
import type { Endpoint } from '../../usecases/proxy/target.ts'

export type Place = {
  path: string
  endpoint: Endpoint | 'models'
  /** Without its question mark. */
  query: string
}

export type Found = { place: Place | undefined; methods: string[]; path: string }

/** Where a request goes; without a place: the methods that its path has. */
export function findPlace(method: string, target: string): Found {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const known = proxyEndpoints.get(path)
  if (known === undefined) return { place: undefined, methods: [], path }
  const isRead = known.method === 'GET'
  if (method === known.method || (isRead && method === 'HEAD')) {
    const query = mark === -1 ? '' : target.slice(mark + 1)
    return { place: { path, endpoint: known.endpoint, query }, methods: [], path }
  }
  return { place: undefined, methods: isRead ? ['GET', 'HEAD'] : ['POST'], path }
}
