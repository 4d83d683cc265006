// The use cases, the proxies and the HTTP side over any ports.
import { createApp } from '../http/app.ts'
import type { HttpSettings } from '../http/deps.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import { createProxies, type ProxySettings } from '../proxy/index.ts'
import { type BudgetLedger, createUsecases, type UsecaseDeps, type UsecaseSettings } from '../usecases/index.ts'

type AppParts = {
  ports: Ports
  builtinTools: UsecaseDeps['builtinTools']
  ledger: BudgetLedger
  log: Logger
  metrics: Metrics
}

type AppSettings = { usecases: UsecaseSettings; proxies: ProxySettings; http: HttpSettings }

export function composeApp({ ports, builtinTools, ledger, log, metrics }: AppParts, settings: AppSettings) {
  const parts = { ports, settings: settings.usecases, builtinTools, ledger }
  const usecases = createUsecases(parts)
  const proxies = createProxies({ ...parts, health: usecases.health }, settings.proxies)
  const app = createApp({ ports, usecases, proxies, settings: settings.http, log, metrics })
  return { app, usecases, proxies }
}
