// Tasks of a scan: made once by name, owned by the scan, confined to what their own spec names.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import type { ResourceRef } from '../../contract/kinds/resources/references.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { isTerminalPhase, type Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { ignoring, isSvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readConfigEntry } from '../../lookup/entries.ts'
import { readResultText } from '../../lookup/result-text.ts'
import { noteAttribution } from '../../rules/budgets/attribution.ts'
import { type ScanStage, scanLabels } from '../../rules/scans/task-names.ts'
import { confinedAnnotation } from '../../rules/tasks/bounds.ts'
import { markCancelled } from '../../rules/tasks/decision.ts'
import { cleanupFinalizer } from '../../rules/tasks/schedule.ts'
import { type ScanContext, ScanRunFailure } from './context.ts'

type ScanTask = {
  name: string
  stage: ScanStage
  labels: Partial<Record<keyof typeof scanLabels, string | undefined>>
  annotations?: Record<string, string>
}

const maxAnswerLength = 4 * 1024 * 1024

/** `agentName`: whose model and instructions it has. */
type ScanTaskContent = { spec: TaskSpec; agentName?: string }

function describeTask(
  { metadata: { namespace, name: owner, uid } }: RepositoryScan,
  task: ScanTask,
  agentName: string | undefined,
) {
  const labels = Object.entries({ ...task.labels, scan: owner, stage: task.stage }).flatMap(([key, value]) =>
    value === undefined ? [] : [[scanLabels[key as keyof typeof scanLabels], value]],
  )
  return {
    namespace,
    name: task.name,
    labels: Object.fromEntries(labels) as Record<string, string>,
    annotations: {
      ...task.annotations,
      [confinedAnnotation]: 'true',
      ...noteAttribution({ agent: agentName, scan: owner }),
    },
    finalizers: [cleanupFinalizer],
    ownerReferences: [
      { apiVersion, kind: 'RepositoryScan', name: owner, uid, controller: true, blockOwnerDeletion: true },
    ],
  }
}

/** The task as it is; made when there is none. RunFailure when its name belongs to something else. */
export async function ensureTask(
  context: ScanContext,
  scan: RepositoryScan,
  task: ScanTask,
  describe: () => Promise<ScanTaskContent>,
): Promise<Task> {
  const key = { namespace: scan.metadata.namespace, name: task.name }
  const known = await context.resources.get('Task', key)
  if (known !== undefined) return requireOwn(scan, known)
  try {
    const { spec, agentName } = await describe()
    const draft = { metadata: describeTask(scan, task, agentName), spec }
    return await context.resources.create('Task', draft)
  } catch (error) {
    const made = isSvcError(error, 'AlreadyExists') ? await context.resources.get('Task', key) : undefined
    if (made === undefined) throw error
    return requireOwn(scan, made)
  }
}

function requireOwn({ metadata: { uid } }: RepositoryScan, task: Task): Task {
  if (task.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return task
  throw new ScanRunFailure(
    'NameTaken',
    `task "${task.metadata.name}" is not one of this scan: delete it, and start a run`,
  )
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

type TaskOutcome = { state: 'active' } | { state: 'failed'; why: string } | { state: 'answered'; text: string }

/** How the task ended, if it has. */
export async function readOutcome({ records }: ScanContext, task: Task): Promise<TaskOutcome> {
  const { phase, message } = task.status ?? {}
  if (!isTerminalPhase(phase)) return { state: 'active' }
  if (phase !== 'Succeeded') return { state: 'failed', why: message ?? `task "${task.metadata.name}" ${phase}` }
  const text = await readResultText(records.results, { taskUid: task.metadata.uid }, maxAnswerLength)
  if (text !== undefined) return { state: 'answered', text }
  return { state: 'failed', why: `task "${task.metadata.name}" left no result` }
}

/** Asks for the end of a task that runs, or waits. */
export async function cancelScanTask({ resources }: ScanContext, task: Task, reason: string): Promise<void> {
  if (isTerminalPhase(task.status?.phase)) return
  await ignoring(resources.update('Task', markCancelled(task, reason)), 'Conflict', 'NotFound')
}

/** Tokens in and out, and cost, of tasks so far. */
export function sumTaskUsage(tasks: readonly Task[]): { tokens: number; cost: number } {
  const used = tasks.map(({ status }) => status?.usage)
  const tokens = used.reduce((sum, usage) => sum + countTokens(usage), 0)
  return { tokens, cost: used.reduce((sum, usage) => sum + (usage?.cost ?? 0) + (usage?.estimatedCost ?? 0), 0) }
}

function countTokens(usage: NonNullable<Task['status']>['usage']): number {
  const { inputTokens = 0, outputTokens = 0, estimatedInputTokens = 0, estimatedOutputTokens = 0 } = usage ?? {}
  return inputTokens + outputTokens + estimatedInputTokens + estimatedOutputTokens
}

type AgentTask = Omit<ScanTask, 'annotations'> & {
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
  if (agent === undefined) throw new ScanRunFailure('AgentMissing', `${what} does not exist: create it`)
  if (agent.spec.runtime === undefined) return agent
  const advice = 'name an agent without a runtime, which works through the tools of the service'
  throw new ScanRunFailure('AgentUnfit', `${what} runs a program with the network of its machine; ${advice}`)
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

async function describeContent(context: ScanContext, task: AgentTask): Promise<ScanTaskContent> {
  const [agent, budget] = [await task.agent(), await task.budget()]
  const system = [await readSystemPrompt(context, agent), task.instructions].filter((text) => text.trim() !== '')
  const { prompt, tools, timeout, priority, workspace } = task
  const ai = dropUndefined({ ...modelOf(agent), prompt, systemPrompt: system.join('\n\n'), tools })
  const spec = TaskSpec.parse(dropUndefined({ type: 'ai', timeout, priority, budget, workspace, ai }))
  return { spec, agentName: agent.metadata.name }
}

/** The task as it is; made when there is none. RunFailure when its name belongs to something else. */
export function ensureAgentTask(context: ScanContext, scan: RepositoryScan, task: AgentTask): Promise<Task> {
  const { name, stage, labels } = task
  return ensureTask(context, scan, { name, stage, labels }, () => describeContent(context, task))
}

/** Tools of validators and authors of patches: none of them reaches a network. */
export const workspaceTools = ['file_read', 'file_write', 'code_exec']

/** `commit`: at which the finding was seen. */
export function workspaceOf({ spec }: RepositoryScan, commit: string | undefined) {
  const { repoURL: gitRepo, gitSecretRef, subPath, branch } = spec
  const revision = commit === undefined ? { branch, ref: spec.ref } : { ref: commit }
  return dropUndefined({ gitRepo, ...revision, gitSecretRef, subPath })
}
