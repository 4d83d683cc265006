// What the routes need.
import type { HttpDeps } from './deps.ts'

export type RouteContext = HttpDeps & {
  /** True once the service has started to stop. */
  isDraining(): boolean
}
