// What the routes are made from.
import type { HttpDeps } from '../deps.ts'

export type RouteContext = HttpDeps & {
  /** True once the service has begun to stop. */
  isDraining(): boolean
}
