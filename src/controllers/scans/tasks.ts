// Tasks of a scan: made once by name, owned by the scan, with no tools but those that the service gives them.
import { readConfigEntry } from '../../catalog/entries.ts'
import { readResultText } from '../../catalog/result-text.ts'
import { dropUndefined } from '../../contract/json.ts'
import type { Agent } from '../../contract/resources/agent.ts'
import { apiVersion } from '../../contract/resources/metadata.ts'
import type { ResourceRef } from '../../contract/resources/references.ts'
import type { RepositoryScan } from '../../contract/resources/repository-scan.ts'
import { isTerminalPhase, type Task, TaskSpec } from '../../contract/resources/task.ts'
import { isSvcError } from '../../errors.ts'
import { type ScanStage, scanLabels } from '../../rules/scans/task-names.ts'
import { cleanupFinalizer } from '../../rules/scheduled-run.ts'
import { markCancelled } from '../../rules/task-decision.ts'
import { RunFailure, type ScanContext } from './context.ts'

export type ScanTask = {
  name: string
  stage: ScanStage
  agent: Agent
  labels: Partial<Record<keyof typeof scanLabels, string>>
  instructions: string
  prompt: string
  outputSchema?: object
  timeout: string
  priority: number
  budget?: TaskSpec['budget']
  workspace?: TaskSpec['workspace']
  tools?: string[]
}

const longestAnswer = 4 * 1024 * 1024

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

async function describeTask(context: ScanContext, scan: RepositoryScan, task: ScanTask) {
  const { namespace, name: owner, uid } = scan.metadata
  const system = [await readSystemPrompt(context, task.agent), task.instructions].filter((text) => text.trim() !== '')
  const labels = Object.entries({ ...task.labels, scan: owner, stage: task.stage }).map(([key, value]) => [
    scanLabels[key as keyof typeof scanLabels],
    value,
  ])
  const { prompt, outputSchema, tools, timeout, priority, budget, workspace } = task
  const ai = { ...modelOf(task.agent), prompt, systemPrompt: system.join('\n\n'), outputSchema, tools }
  return {
    metadata: {
      namespace,
      name: task.name,
      labels: Object.fromEntries(labels),
      finalizers: [cleanupFinalizer],
      ownerReferences: [
        { apiVersion, kind: 'RepositoryScan', name: owner, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: TaskSpec.parse(dropUndefined({ type: 'ai', timeout, priority, budget, workspace, ai: dropUndefined(ai) })),
  }
}

/** The task as it is; made when there is none. RunFailure when its name belongs to something else. */
export async function ensureTask(context: ScanContext, scan: RepositoryScan, task: ScanTask): Promise<Task> {
  const key = { namespace: scan.metadata.namespace, name: task.name }
  const known = await context.resources.get('Task', key)
  if (known !== undefined) return requireOwn(scan, known)
  try {
    return await context.resources.create('Task', await describeTask(context, scan, task))
  } catch (error) {
    const made = isSvcError(error, 'AlreadyExists') ? await context.resources.get('Task', key) : undefined
    if (made === undefined) throw error
    return requireOwn(scan, made)
  }
}

function requireOwn({ metadata: { uid } }: RepositoryScan, task: Task): Task {
  if (task.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return task
  throw new RunFailure('NameTaken', `task "${task.metadata.name}" is not one of this scan: delete it, and start a run`)
}

/** Every task of a run. */
export async function listRunTasks({ resources }: ScanContext, scan: RepositoryScan, run: string): Promise<Task[]> {
  const { namespace, uid } = scan.metadata
  const tasks: Task[] = []
  let token: string | undefined
  do {
    const query = { namespace, labelSelector: `${scanLabels.run}=${run}`, limit: 500, continue: token }
    const page = await resources.list('Task', query)
    tasks.push(...page.items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)))
    token = page.continue
  } while (token !== undefined)
  return tasks
}

export type TaskOutcome = { state: 'active' } | { state: 'failed'; why: string } | { state: 'answered'; text: string }

/** How the task ended, if it has. */
export async function readOutcome({ records }: ScanContext, task: Task): Promise<TaskOutcome> {
  const { phase, message } = task.status ?? {}
  if (!isTerminalPhase(phase)) return { state: 'active' }
  if (phase !== 'Succeeded') return { state: 'failed', why: message ?? `task "${task.metadata.name}" ${phase}` }
  const text = await readResultText(records.results, { taskUid: task.metadata.uid }, longestAnswer)
  if (text !== undefined) return { state: 'answered', text }
  return { state: 'failed', why: `task "${task.metadata.name}" left no result` }
}

/** Asks for the end of a task that runs, or waits. */
export async function cancelTask({ resources }: ScanContext, task: Task, reason: string): Promise<void> {
  if (isTerminalPhase(task.status?.phase)) return
  try {
    await resources.update('Task', markCancelled(task, reason))
  } catch (error) {
    if (!isSvcError(error, 'Conflict') && !isSvcError(error, 'NotFound')) throw error
  }
}

/** Tokens in and out, and cost, of tasks so far. */
export function sumUsage(tasks: readonly Task[]): { tokens: number; cost: number } {
  const used = tasks.map(({ status }) => status?.usage)
  const tokens = used.reduce((sum, usage) => sum + countTokens(usage), 0)
  return { tokens, cost: used.reduce((sum, usage) => sum + (usage?.cost ?? 0) + (usage?.estimatedCost ?? 0), 0) }
}

function countTokens(usage: NonNullable<Task['status']>['usage']): number {
  const { inputTokens = 0, outputTokens = 0, estimatedInputTokens = 0, estimatedOutputTokens = 0 } = usage ?? {}
  return inputTokens + outputTokens + estimatedInputTokens + estimatedOutputTokens
}
