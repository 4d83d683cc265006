// What the catalog controllers need.
import type { Clock } from '../../lib/clock.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { RepositoryFolders } from '../../ports/codehost/repository-folders.ts'
import type { Records } from '../../ports/index.ts'
import type { TryProvider } from '../../ports/providers/provider-state.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { Egress } from '../../ports/service/egress.ts'
import type { ListMcpTools, ToolActors } from '../../ports/tools/tools.ts'
import { type AgentPrograms, noAgentPrograms } from '../../rules/agents/programs.ts'
import type { Log } from '../engine/controller.ts'

export type ResourceControllerSettings = {
  egress: { allowNetworks: string[]; deny: string[] }
  /** Agent programs that agent tasks can run here. */
  agentPrograms: AgentPrograms
  /** Time between two checks of an endpoint. */
  checkIntervalMs: number
}

export const defaultResourceControllerSettings: ResourceControllerSettings = {
  egress: { allowNetworks: [], deny: [] },
  agentPrograms: noAgentPrograms,
  checkIntervalMs: 300_000,
}

export type ResourceControllerDeps = {
  resources: Resources
  records: Pick<Records, 'rateLimits' | 'providerHealth' | 'agentVersions'>
  secrets: Secrets
  configMaps: ConfigMaps
  egress: Egress
  tryProvider: TryProvider
  listMcpTools: ListMcpTools
  /** Absent: MCP servers cannot run in actors. */
  toolActors?: ToolActors | undefined
  /** Absent: skills with a source alone cannot be read. */
  repositoryFolders?: RepositoryFolders | undefined
  /** Absent: Secrets of Apps cannot be used. */
  codeHosts?: CodeHosts | undefined
  clock: Clock
  log: Log
  settings: ResourceControllerSettings
}
