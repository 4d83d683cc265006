// Versions of an agent, and which one a run had.
import { type AgentVersion, agentVersionLimits, listAgentVersions } from '../../../src/contract/api/agents/agents.ts'
import { useObjectRecord } from './records.ts'

/** All that are kept, newest first. */
export function useAgentVersions(agent: { namespace: string; name: string }, isEnabled = true) {
  const query = { limit: agentVersionLimits.versions }
  return useObjectRecord('Agent', listAgentVersions, agent, { query, isEnabled })
}

/** The one that was in force; `versions` is newest first. Undefined where none is known of that time. */
export function findVersionAt(versions: readonly AgentVersion[], at: string): AgentVersion | undefined {
  return versions.find(({ since }) => Date.parse(since) <= Date.parse(at))
}

type RunTimes = {
  metadata: { creationTimestamp: string }
  status?: { firstStartTime?: string | undefined; startTime?: string | undefined } | undefined
}

/** When a task began; one that waits is as one that begins when it was made. */
export function startOfRun({ metadata, status }: RunTimes): string {
  return status?.firstStartTime ?? status?.startTime ?? metadata.creationTimestamp
}
