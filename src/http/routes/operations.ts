// For those who run the service: liveness, readiness, metrics, and the description of the interface.
import * as health from '../../contract/api/health.ts'
import { getMetrics } from '../../contract/api/metrics.ts'
import { buildOpenApi } from '../../contract/api/openapi.ts'
import { internalRoutes, publicRoutes } from '../../contract/api/routes.ts'
import { SvcError } from '../../errors.ts'
import { requireAccess } from '../../usecases/access.ts'
import { checkReadiness } from '../../usecases/readiness.ts'
import type { Bind } from '../bind.ts'
import type { RouteContext } from './context.ts'

export function bindHealth(bind: Bind, { ports, isDraining }: RouteContext): void {
  bind(health.getHealth, () => ({ json: { status: 'ok' as const } }))
  bind(health.getReadiness, async () => {
    const { isReady, checks } = await checkReadiness(ports.health)
    if (isReady && !isDraining()) return { json: { status: 'ok' as const, checks } }
    const failed = isDraining() ? { ...checks, serving: 'unhealthy' as const } : checks
    return { status: 503, headers: { 'retry-after': '5' }, json: { status: 'not ready' as const, checks: failed } }
  })
}

export function bindDescription(bind: Bind, { settings }: RouteContext): void {
  const describe = (routes: typeof publicRoutes) => {
    let document: string | undefined
    return () => {
      document ??= JSON.stringify(buildOpenApi(routes, { version: settings.version }))
      return { jsonText: document }
    }
  }
  bind(health.getOpenApi, describe(publicRoutes))
  bind(health.getInternalOpenApi, describe(internalRoutes))
}

export function bindMetrics(bind: Bind, { metrics, settings, ports }: RouteContext): void {
  bind(getMetrics, async ({ caller }) => {
    await requireAccess(ports, caller, { verb: 'get', kind: 'Metrics' })
    if (settings.metricsApart)
      throw new SvcError('NotFound', 'metrics are served on their own listener (--metrics-addr)')
    return await metrics.expose()
  })
}
