import type { HttpDeps } from '../deps.ts'
// What the routes are made from.

export type RouteContext = HttpDeps & {
  /** True once the service has begun to stop. */
  isDraining(): boolean
}
