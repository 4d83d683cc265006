// Puts together what one attempt is started with.
import type { WorkAssignment } from '../../contract/api/assignment.ts'
import { tryParseDuration } from '../../contract/duration.ts'
import { tryParseQuantity } from '../../contract/quantity.ts'
import type { ResourceRequirements } from '../../contract/resources/execution.ts'
import { promptOf, type Task } from '../../contract/resources/task.ts'
import type { WorkloadLimits, WorkloadSpec } from '../../ports/workloads.ts'
import { parentOf } from '../../rules/family.ts'
import { formatSkill } from '../../rules/skill-content.ts'
import { inheritStamp } from '../../rules/stamp.ts'
import { listTransactionVariables } from '../../rules/token-propagation.ts'
import { takeTaskToken } from './child-token.ts'
import { buildCommand } from './command.ts'
import type { References } from './references.ts'
import type { TaskControllerDeps } from './settings.ts'

export type Attempt = { task: Task; attempt: number; startedAt: Date; references: References }

export async function buildWorkload(deps: TaskControllerDeps, attempt: Attempt): Promise<WorkloadSpec> {
  const { task, references } = attempt
  const { namespace, name, uid } = task.metadata
  const token = await takeTaskToken(deps, task)
  const isCommand = task.spec.type === 'container'
  const run = isCommand
    ? await buildCommand(deps.secrets, task, token)
    : { kind: 'worker' as const, assignment: await buildAssignment(deps, attempt, token) }
  const { labels, annotations } = inheritStamp(task)
  return {
    key: { taskUid: uid, attempt: attempt.attempt },
    namespace,
    taskName: name,
    run,
    limits: makeLimits(deps, task, references.agent?.spec.resources),
    ...(task.spec.transaction !== undefined && { labels, annotations }),
  }
}

function makeLimits(deps: TaskControllerDeps, task: Task, ofAgent?: ResourceRequirements): WorkloadLimits {
  const resources = task.spec.resources ?? ofAgent
  const asked = readAmounts(resources?.requests)
  const most = { ...deps.settings.defaultLimits, ...asked, ...readAmounts(resources?.limits) }
  const timeout = timeoutOf(task)
  return {
    ...most,
    ...(resources?.requests !== undefined && { requests: asked }),
    ...(timeout !== undefined && { deadlineSeconds: Math.max(1, Math.ceil(timeout / 1000)) }),
  }
}

type Amounts = { cpu?: number; memoryBytes?: number; diskBytes?: number }

function readAmounts(quantities: NonNullable<ResourceRequirements['limits']> = {}): Amounts {
  const cpu = tryParseQuantity(quantities.cpu ?? '')
  const memoryBytes = tryParseQuantity(quantities.memory ?? '')
  const diskBytes = tryParseQuantity(quantities['ephemeral-storage'] ?? '')
  return {
    ...(cpu !== undefined && { cpu }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(diskBytes !== undefined && { diskBytes }),
  }
}

function timeoutOf(task: Task): number | undefined {
  return task.spec.timeout === undefined ? undefined : tryParseDuration(task.spec.timeout)
}

/** How the worker's tools carry the transaction; undefined where context tokens are off. */
function choosePropagation(
  { settings, tokenExchange }: TaskControllerDeps,
  task: Task,
  token: string | undefined,
): WorkAssignment['propagation'] {
  if (settings.propagation === undefined) return undefined
  if (task.spec.transaction === undefined) return { mode: 'none' }
  if (tokenExchange !== undefined) return { mode: 'exchange' }
  return token === undefined ? { mode: 'none' } : { mode: 'token', token }
}

async function buildAssignment(
  deps: TaskControllerDeps,
  attempt: Attempt,
  taskToken: string | undefined,
): Promise<WorkAssignment> {
  const { task, references } = attempt
  const { settings } = deps
  const { namespace, name, uid } = task.metadata
  const identity = { namespace, taskName: name, taskUid: uid, attempt: attempt.attempt }
  const token = await deps.workerTokens.mint(identity)
  const timeout = timeoutOf(task)
  const session = await readSession(deps, task)
  const propagation = choosePropagation(deps, task, taskToken)
  return {
    version: 1,
    api: { url: settings.workerApiUrl(), token },
    task: describeTask(task, attempt.attempt),
    ...(timeout !== undefined && makeDeadline(attempt.startedAt, timeout)),
    loop: makeLoop(deps, attempt),
    model: { choices: references.models },
    customTools: references.customTools,
    egress: settings.egress,
    ...(settings.search && { search: settings.search }),
    ...(propagation && { propagation }),
    ...(session && { session }),
    redact: listSecrets([token, taskToken, settings.search?.apiKey], references),
  }
}

function makeDeadline(startedAt: Date, timeoutMs: number): Pick<WorkAssignment, 'deadline' | 'timeoutMs'> {
  return { deadline: new Date(startedAt.getTime() + timeoutMs).toISOString(), timeoutMs }
}

function describeTask(task: Task, attempt: number): WorkAssignment['task'] {
  const { namespace, name, uid } = task.metadata
  const parentTask = parentOf(task)?.name
  const agentName = task.spec.agentRef?.name
  const sessionName = task.spec.sessionRef?.name
  const transactionVariables = listTransactionVariables(task.spec.transaction)
  return {
    namespace,
    name,
    uid,
    attempt,
    type: task.spec.type,
    ...(agentName !== undefined && { agentName }),
    ...(sessionName !== undefined && { sessionName }),
    ...(parentTask !== undefined && { parentTask }),
    ...(task.spec.transaction !== undefined && { transactionVariables }),
  }
}

function makeLoop(deps: TaskControllerDeps, { task, references }: Attempt): WorkAssignment['loop'] {
  const ai = task.spec.ai
  const model = references.agent?.spec.model
  const maxTokens = ai?.maxTokens ?? model?.maxTokens
  const temperature = ai?.temperature ?? model?.temperature
  return {
    maxIterations: deps.settings.maxIterations,
    toolTimeoutMs: deps.settings.toolTimeoutMs,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    systemPrompt: makeSystemPrompt(task, references),
    prompt: promptOf(task.spec),
    tools: references.builtInTools,
  }
}

function makeSystemPrompt(task: Task, { agent, skills }: References): string {
  const own = task.spec.ai?.systemPrompt ?? agent?.spec.systemPrompt?.inline ?? ''
  const sections = skills.map((skill) => formatSkill(skill.metadata.name, skill.spec.content))
  return [own, ...sections].filter((text) => text !== '').join('\n\n')
}

async function readSession(deps: TaskControllerDeps, task: Task): Promise<WorkAssignment['session']> {
  const reference = task.spec.sessionRef
  if (reference === undefined) return undefined
  const key = { namespace: task.metadata.namespace, name: reference.name }
  const stored = await deps.records.sessions.transcript(key, { limit: reference.maxMessages })
  return { name: reference.name, messages: stored.map(({ id, ...message }) => message) }
}

function listSecrets(own: (string | undefined)[], references: References): string[] {
  const keys = references.models.map((choice) => choice.provider.apiKey)
  const tools = references.customTools.map((tool) => tool.http.auth?.token)
  const values = [...own, ...keys, ...tools].filter((value) => value !== undefined && value !== '')
  return [...new Set(values as string[])]
}
