// What the programs of an attempt may reach now: of its task, its agent and the settings, as they are at this moment.
import type { Network } from '../contract/kinds/tasks/network.ts'
import type { WorkerIdentity } from '../ports/identity/identity.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { GatedAttempt } from '../ports/workspaces/network-gates.ts'
import type { ContextMode } from '../rules/identity/context-token.ts'
import { applyNetwork, limitNetwork, listHostOf, type NetworkSettings } from '../rules/workspaces/network.ts'
import { findLineage } from './lineage.ts'
import { listEach } from './listing.ts'
import { findLiveTask } from './live-task.ts'

type GatedAttemptParts = {
  resources: Pick<ResourceReader, 'get' | 'list'>
  settings: NetworkSettings
  contextMode: ContextMode
}

/** What the preset `model` stands for besides the vendors' own hosts; read only where the network has it. */
export async function listProviderHosts(
  { resources }: Pick<GatedAttemptParts, 'resources'>,
  namespace: string,
  { allow }: Pick<Network, 'allow'>,
): Promise<string[]> {
  const hosts: string[] = []
  if (!allow.includes('model')) return hosts
  for await (const { spec } of listEach(resources, 'Provider', { namespace }))
    hosts.push(...listHostOf(spec.baseURL ?? ''))
  return hosts
}

/** Undefined for an attempt that is not under way, or has no gate. */
export async function findGatedAttempt(
  parts: GatedAttemptParts,
  identity: WorkerIdentity,
): Promise<GatedAttempt | undefined> {
  const { resources, settings } = parts
  const task = await findLiveTask(resources, identity)
  if (task === undefined) return undefined
  const { namespace, taskName, taskUid, attempt } = identity
  const lineage = await findLineage(resources, task)
  const model = await listProviderHosts(parts, namespace, applyNetwork(lineage, settings))
  const limited = limitNetwork(lineage, { ...parts, model })
  return limited && { key: { taskUid, attempt }, namespace, taskName, rules: limited.rules }
}
