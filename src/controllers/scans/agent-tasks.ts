// Tasks in which an agent works for a scan: with its provider, model and system prompt, and none of its tools.

import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { ResourceRef } from '../../contract/kinds/resources/references.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { type Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { readConfigEntry } from '../../lookup/entries.ts'
import { RunFailure, type ScanContext } from './context.ts'
import { ensureTask, type ScanTask } from './tasks.ts'

export type AgentTask = Omit<ScanTask, 'annotations'> & {
  /** Asked for, like the budget, when the task is made. */
  agent: () => Promise<Agent>
  instructions: string
  prompt: string
  timeout: string
  priority: number
  budget: () => Promise<TaskSpec['budget']>
  workspace?: TaskSpec['workspace']
  tools?: string[]
}

/** RunFailure when there is none, or it runs a program, which has the network of its machine. */
export async function findAgent({ resources }: ScanContext, scan: RepositoryScan, ref: ResourceRef): Promise<Agent> {
  const key = { namespace: ref.namespace ?? scan.metadata.namespace, name: ref.name }
  const agent = await resources.get('Agent', key)
  const what = `agent "${key.name}" in namespace "${key.namespace}"`
  if (agent === undefined) throw new RunFailure('AgentMissing', `${what} does not exist: create it`)
  if (agent.spec.runtime === undefined) return agent
  const advice = 'name an agent without a runtime, which works through the tools of the service'
  throw new RunFailure('AgentUnfit', `${what} runs a program with the network of its machine; ${advice}`)
}

async function readSystemPrompt({ configMaps }: ScanContext, { metadata, spec }: Agent): Promise<string> {
  const { inline, configMapRef } = spec.systemPrompt ?? {}
  if (configMapRef === undefined) return inline ?? ''
  const { namespace, name } = metadata
  const key = { namespace, name: configMapRef.name }
  return readConfigEntry(configMaps, key, { entry: configMapRef.key, owner: `agent "${name}"` })
}

function modelOf({ metadata: { namespace }, spec }: Agent) {
  const { providerRef, model } = spec
  const provider = providerRef && { namespace: providerRef.namespace ?? namespace, name: providerRef.name }
  return {
    providerRef: provider,
    provider: model?.provider,
    model: model?.name,
    maxTokens: model?.maxTokens,
    temperature: model?.temperature,
  }
}

async function describeSpec(context: ScanContext, task: AgentTask): Promise<TaskSpec> {
  const [agent, budget] = [await task.agent(), await task.budget()]
  const system = [await readSystemPrompt(context, agent), task.instructions].filter((text) => text.trim() !== '')
  const { prompt, tools, timeout, priority, workspace } = task
  const ai = dropUndefined({ ...modelOf(agent), prompt, systemPrompt: system.join('\n\n'), tools })
  return TaskSpec.parse(dropUndefined({ type: 'ai', timeout, priority, budget, workspace, ai }))
}

/** The task as it is; made when there is none. RunFailure when its name belongs to something else. */
export function ensureAgentTask(context: ScanContext, scan: RepositoryScan, task: AgentTask): Promise<Task> {
  const { name, stage, labels } = task
  return ensureTask(context, scan, { name, stage, labels }, () => describeSpec(context, task))
}
