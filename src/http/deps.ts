// What the HTTP edge needs.
import type { OidcSignIn } from '../contract/api/identity/auth.ts'
import type { AgentProgramItem } from '../contract/api/service/agent-programs.ts'
import type { SettingItem } from '../contract/api/service/settings.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import type { Proxies } from '../proxy/index.ts'
import type { Usecases } from '../usecases/index.ts'
import type { DashboardSettings } from './dashboard/dashboard.ts'
import type { CredentialHeader } from './middleware/credentials.ts'
import type { TlsPair } from './tls.ts'

export type HttpSettings = {
  /** `--public-host`: names that requests may carry, besides loopback and the bound address. */
  publicHosts: readonly string[]
  /** `--cors-allowed-origins`. */
  corsAllowedOrigins: readonly string[]
  /** Every setting with its value, for owners; default: none. */
  states?: readonly SettingItem[]
  /** The agent programs of this service as they are now. */
  agentPrograms?(): Promise<AgentProgramItem[]>
  /** Headers that carry context tokens; default: none. */
  tokenHeaders?: readonly CredentialHeader[]
  /** Failed authentications per address and minute; beyond it, further ones get 429. 0 (default): no limit. */
  authFailuresPerMinute?: number
  /** Addresses and networks (CIDR) of trusted proxies; default: none. */
  trustedProxies?: readonly string[]
  /** The service's address in the OpenAPI document. */
  version: string
  /** Metrics have their own listener: on this one they are not found (HTTP-041). */
  metricsApart?: boolean
  /** Default: 15 MiB (HTTP-031). */
  bodyLimitBytes?: number
  /** A request must have arrived completely within this time; default 5 minutes. */
  requestTimeoutMs?: number
  /** Its headers must have arrived within this time; default 20 seconds. */
  headersTimeoutMs?: number
  /** Present: HTTPS only. */
  tls?: TlsPair
  /** Absent: no dashboard is served. */
  dashboard?: DashboardSettings | undefined
  /** Issuers at which people sign in on the dashboard; default: none. */
  signIn?: readonly OidcSignIn[]
  /** How often both time limits are checked; default 5 seconds. */
  timeoutCheckMs?: number
  /** Interval of heartbeat comments in event streams; default 15 seconds. */
  heartbeatMs?: number
  /** How often the credential of an event stream is looked at again; default 5 seconds. */
  recheckMs?: number
}

export type HttpDeps = {
  ports: Pick<Ports, 'authenticator' | 'authorizer' | 'workerTokens' | 'runners' | 'ids' | 'clock' | 'health'>
  usecases: Usecases
  proxies: Proxies
  settings: HttpSettings
  log: Logger
  metrics: Metrics
}

export type RouteContext = HttpDeps & {
  /** True once the service has started to stop. */
  isDraining(): boolean
}
