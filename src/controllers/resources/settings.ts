import type { Ports, Records } from '../../ports/index.ts'
import type { TryProvider } from '../../ports/providers/provider-state.ts'
import type { ListMcpTools } from '../../ports/tools/tools.ts'
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

export type ResourceControllerDeps = Pick<
  Ports,
  'resources' | 'secrets' | 'configMaps' | 'egress' | 'toolActors' | 'repositoryFolders' | 'clock'
> &
  Partial<Pick<Ports, 'codeHosts'>> & {
    records: Pick<Records, 'rateLimits' | 'providerHealth' | 'agentVersions'>
    tryProvider: TryProvider
    listMcpTools: ListMcpTools
    log: Log
    settings: ResourceControllerSettings
  }
