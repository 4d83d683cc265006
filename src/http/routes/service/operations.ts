// For those who run the service: liveness, readiness, metrics, and the description of the interface.
import { internalRoutes, publicRoutes } from '../../../contract/api/index.ts'
import { getSchema, schemaOfKind } from '../../../contract/api/resources/schemas.ts'
import { listAgentPrograms } from '../../../contract/api/service/agent-programs.ts'
import * as health from '../../../contract/api/service/health.ts'
import { getMetrics } from '../../../contract/api/service/metrics.ts'
import { buildOpenApi } from '../../../contract/api/service/openapi.ts'
import { listSettings } from '../../../contract/api/service/settings.ts'
import { SvcError } from '../../../errors.ts'
import { checkReadiness, requireAccess } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'

export function bindHealth(bind: Bind, { ports, isDraining }: RouteContext): void {
  bind.json(health.getHealth, () => ({ status: 'ok' as const }))
  bind(health.getReadiness, async () => {
    const { isReady, checks } = await checkReadiness(ports.health)
    if (isReady && !isDraining()) return { json: { status: 'ok' as const, checks } }
    const failed = isDraining() ? { ...checks, serving: 'unhealthy' as const } : checks
    return { status: 503, headers: { 'retry-after': '5' }, json: { status: 'not ready' as const, checks: failed } }
  })
}

/** Kept by whoever reads it, and asked about again: it changes with the service. */
const revalidated = { 'cache-control': 'no-cache' }

export function bindDescription(bind: Bind, { settings }: RouteContext): void {
  const describe = (routes: typeof publicRoutes) => {
    let document: string | undefined
    return () => {
      document ??= JSON.stringify(buildOpenApi(routes, { version: settings.version }))
      return { jsonText: document, headers: revalidated }
    }
  }
  bind(health.getOpenApi, describe(publicRoutes))
  bind(health.getInternalOpenApi, describe(internalRoutes))
}

/** One document for all: the part of a kind is taken out of it once. */
export function bindSchemas(bind: Bind, { settings }: RouteContext): void {
  const texts = new Map<string, string>()
  let document: object | undefined
  bind(getSchema, ({ params: { kind } }) => {
    document ??= buildOpenApi(publicRoutes, { version: settings.version })
    const text = texts.get(kind) ?? JSON.stringify(schemaOfKind(document, kind))
    texts.set(kind, text)
    return { jsonText: text, headers: revalidated }
  })
}

export function bindSettings(bind: Bind, { settings, ports }: RouteContext): void {
  bind(listSettings, async ({ caller }) => {
    await requireAccess(ports, caller, { verb: 'list', kind: 'Setting' })
    return { json: { items: [...(settings.states ?? [])], metadata: {} } }
  })
}

export function bindAgentPrograms(bind: Bind, { settings, ports }: RouteContext): void {
  bind(listAgentPrograms, async ({ caller }) => {
    await requireAccess(ports, caller, { verb: 'list', kind: 'Setting' })
    return { json: { items: (await settings.agentPrograms?.()) ?? [], metadata: {} } }
  })
}

export function bindMetrics(bind: Bind, { metrics, settings, ports }: RouteContext): void {
  bind(getMetrics, async ({ caller }) => {
    await requireAccess(ports, caller, { verb: 'get', kind: 'Metrics' })
    if (settings.metricsApart)
      throw new SvcError('NotFound', 'metrics are served on their own listener (--metrics-addr)')
    return await metrics.expose()
  })
}
