// What the HTTP edge is made from.
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import type { Proxies } from '../proxy/index.ts'
import type { Usecases } from '../usecases/index.ts'
import type { TokenHeader } from './middleware/credentials.ts'
import type { TlsPair } from './tls.ts'

export type HttpSettings = {
  /** `--public-host`: names, beside loopback and the bound address, that requests may carry. */
  publicHosts: readonly string[]
  /** `--cors-allowed-origins`. */
  corsAllowedOrigins: readonly string[]
  /** Headers that carry context tokens; default: none. */
  tokenHeaders?: readonly TokenHeader[]
  /** Failed authentications per address and minute above which more get 429; 0 is no limit, the default. */
  authFailuresPerMinute?: number
  /** Addresses and networks (CIDR) of proxies that say whose request it is; default: none. */
  trustedProxies?: readonly string[]
  /** In OpenAPI. */
  version: string
  /** Metrics have a listener of their own: here they are not found (HTTP-041). */
  metricsApart?: boolean
  /** Default: 15 MiB (HTTP-031). */
  bodyLimitBytes?: number
  /** A request must have arrived by then; default 5 minutes. */
  requestTimeoutMs?: number
  /** Its headers must have arrived by then; default 20 seconds. */
  headersTimeoutMs?: number
  /** Present: HTTPS and nothing else. */
  tls?: TlsPair
  /** How often both are looked at; default 5 seconds. */
  timeoutCheckMs?: number
  /** Comment lines of event streams; default 15 seconds. */
  heartbeatMs?: number
}

export type HttpDeps = {
  ports: Pick<Ports, 'authenticator' | 'authorizer' | 'workerTokens' | 'ids' | 'clock' | 'health'>
  usecases: Usecases
  proxies: Proxies
  settings: HttpSettings
  log: Logger
  metrics: Metrics
}
