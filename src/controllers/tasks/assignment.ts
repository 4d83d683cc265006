// Assembles what one attempt is started with, coordination included.
import type { AssignedCoordination, AssignedPlan } from '../../contract/api/coordination/assigned-coordination.ts'
import type { AssignedAgent, WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import { listToolSecrets } from '../../contract/api/tools/assigned-tool.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { ResourceRequirements } from '../../contract/kinds/tasks/execution.ts'
import { promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { tryParseQuantity } from '../../contract/values/quantity.ts'
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { takeTaskToken } from '../../lookup/child-task.ts'
import { findAbove } from '../../lookup/lineage.ts'
import type { AttemptCheckout, WorkloadLimits, WorkloadRun, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { approvalsOf, limitsOf, nameOfProgram } from '../../rules/agents/programs.ts'
import { limitMessages } from '../../rules/chat/transcripts.ts'
import { isPrMonitor, listCodeHostTools } from '../../rules/codehost/tools.ts'
import { listTransactionVariables } from '../../rules/identity/token-propagation.ts'
import { limitedAgentOf, limitIterations } from '../../rules/providers/model-choice.ts'
import { choosePlacement, isComputed } from '../../rules/tasks/bounds.ts'
import { autonomyOf, maxModelCalls } from '../../rules/tasks/iteration.ts'
import { inheritStamp, parentOf } from '../../rules/tasks/stamp.ts'
import { traceparentOf } from '../../rules/tasks/trace-context.ts'
import { resolveWorkspace, wantsWorkspace } from '../../rules/workspaces/execution-workspace.ts'
import { limitNetwork, listHostOf } from '../../rules/workspaces/network.ts'
import { type AttemptDeps, isolateTask, siblingsOf } from './context.ts'
import { buildCommand, resolveEnvironment, type TaskEnvironment } from './environment.ts'
import type { NewAttempt, TaskReferences } from './references.ts'

/** For attempts without a time limit: a token ends with its attempt in any case. */
const maxLifeMs = 7 * 86_400_000
/** Its calls may still be under way when the time is up. */
const graceMs = 60_000

/** Undefined for a task of another type. */
async function assignAgent(deps: AttemptDeps, attempt: NewAttempt): Promise<AssignedAgent | undefined> {
  const { task, references } = attempt
  const runtime = references.agent?.spec.runtime
  const [choice] = references.models
  const name = runtime && nameOfProgram(runtime)
  if (task.spec.type !== 'agent' || runtime === undefined || name === undefined || choice === undefined)
    return undefined
  const { command, launch } = references.program?.found ? references.program : {}
  return dropUndefined({
    runtime: name,
    command,
    launch: launch && {
      argv: launch.argv,
      folders: launch.folders,
      ...(launch.version && { version: launch.version }),
    },
    path: launch?.path ?? deps.settings.agentPath,
    model: `${choice.provider.name}/${choice.model}`,
    token: await mintToken(deps, attempt, choice),
    ...limitsOf(runtime, task.spec.agentRuntime),
    reasoningEffort: runtime.defaultReasoningEffort,
    trustsFolder: runtime.trustRepository,
    approvalRequiredTools: references.agent && approvalsOf(references.agent.spec),
  })
}

function mintToken(
  { agentTokens, settings }: AttemptDeps,
  { task, attempt, startedAt }: NewAttempt,
  { provider, model }: NewAttempt['references']['models'][number],
): Promise<string> {
  if (agentTokens === undefined) throw new SvcError('InvalidRequest', 'agents cannot use the proxies of this service')
  const { namespace, name: taskName, uid: taskUid } = task.metadata
  const lifeMs = tryParseDuration(task.spec.timeout ?? '') ?? maxLifeMs
  return agentTokens.mint({
    namespace,
    taskName,
    taskUid,
    attempt,
    model,
    provider: { namespace: provider.namespace, name: provider.name },
    maxTokens: settings.agentTokens,
    expiresAt: new Date(startedAt.getTime() + lifeMs + graceMs).toISOString(),
  })
}

/** Undefined when the agent does not coordinate, and nobody coordinates the task; and for a monitor of pull requests. */
async function assignCoordination(
  deps: Pick<AttemptDeps, 'records'>,
  { task, references: { agent } }: NewAttempt,
): Promise<AssignedCoordination | undefined> {
  const iteration = task.status?.iteration ?? 0
  const { enabled = false, approvalRequiredTools } = agent?.spec.coordination ?? {}
  if (isPrMonitor(task)) return undefined
  if (!enabled) return siblingsOf(task) === undefined ? undefined : { iteration, coordinates: false }
  const common = { iteration, coordinates: true, ...(approvalRequiredTools && { approvalRequiredTools }) }
  const autonomy = autonomyOf(agent)
  if (autonomy === undefined) return common
  const plan = await readPlan(deps, task.metadata.uid)
  return { ...common, autonomous: { maxIterations: autonomy.maxIterations, ...(plan && { plan }) } }
}

async function readPlan({ records }: Pick<AttemptDeps, 'records'>, taskUid: string): Promise<AssignedPlan | undefined> {
  const found = await records.plans?.get(taskUid)
  if (found === undefined) return undefined
  const { iteration, summary, progressPct, planDocument } = found
  return { iteration, summary, progressPct, planDocument }
}

export async function buildWorkload(deps: AttemptDeps, attempt: NewAttempt): Promise<WorkloadSpec> {
  const { task, references } = attempt
  const { namespace, name, uid } = task.metadata
  const token = await takeTaskToken(deps, task)
  const limits = makeLimits(deps, attempt)
  const environment = await resolveEnvironment(deps, { task, limits })
  const secrets = listMountedValues(references)
  const run =
    task.spec.type === 'container'
      ? buildCommand(task, { environment, secrets, token })
      : await buildWorker(deps, attempt, { environment, token })
  return {
    key: { taskUid: uid, attempt: attempt.attempt },
    namespace,
    taskName: name,
    run,
    limits,
    priority: task.spec.priority,
    placement: choosePlacement(task, references.agent),
    ...(references.checkout !== undefined && { checkout: limitCheckout(references.checkout, limits) }),
    ...(references.mounted.length > 0 && { secrets: references.mounted }),
    ...dropUndefined({
      isolation: isolateTask(deps.settings, task, references.agent),
      workspace: resolveWorkspace(deps.settings.workspaces, { ...attempt, agent: references.agent }),
    }),
    ...markAttempt(deps, task),
    ...(await describeNetwork(deps, attempt)),
  }
}

async function describeNetwork(
  { resources, settings: { contextMode, network: settings } }: AttemptDeps,
  { task, references }: NewAttempt,
): Promise<Pick<WorkloadSpec, 'network'>> {
  if (task.spec.type === 'ai') return {}
  const model = references.models.flatMap(({ provider }) => listHostOf(provider.baseUrl ?? ''))
  const lineage = { task, agent: references.agent, ancestors: await findAbove(resources, task) }
  return dropUndefined({ network: limitNetwork(lineage, { settings, contextMode, model }) })
}

/** What its objects carry for whoever accounts for them or schedules them; what the service stamped goes before a caller's own. */
function markAttempt(
  { settings: { propagated } }: AttemptDeps,
  task: Task,
): Pick<WorkloadSpec, 'labels' | 'annotations'> {
  const stamp = inheritStamp(task)
  const isStamped = task.spec.transaction !== undefined
  const choose = (of: 'labels' | 'annotations') => {
    const allowed = Object.entries(task.metadata[of] ?? {}).filter(([key]) =>
      propagated[of].some((prefix) => key.startsWith(prefix)),
    )
    return { ...Object.fromEntries(allowed), ...(isStamped && stamp[of]) }
  }
  const marks = { labels: choose('labels'), annotations: choose('annotations') }
  return Object.fromEntries(Object.entries(marks).filter(([, map]) => Object.keys(map).length > 0))
}

/** It may take the whole workspace. */
function limitCheckout({ spec, ...rest }: AttemptCheckout, { diskBytes, diskFiles }: WorkloadLimits): AttemptCheckout {
  return { ...rest, spec: { ...spec, limits: dropUndefined({ bytes: diskBytes, files: diskFiles }) } }
}

function makeLimits(deps: AttemptDeps, attempt: NewAttempt): WorkloadLimits {
  const { task, references } = attempt
  const { agent, checkout } = references
  const { defaultLimits, checkoutLimits } = deps.settings
  const resources = task.spec.resources ?? agent?.spec.resources
  const requested = readAmounts(resources?.requests)
  const { requests: usual, ...usually } = { ...defaultLimits, ...(checkout && checkoutLimits) }
  const timeout = timeLeftOf(attempt)
  return {
    ...makeRoom(usually, requested),
    ...readAmounts(resources?.limits),
    ...(resources?.requests !== undefined || usual !== undefined ? { requests: { ...usual, ...requested } } : {}),
    ...pickExtended(resources),
    ...(timeout !== undefined && { deadlineSeconds: Math.max(1, Math.ceil(timeout / 1000)) }),
  }
}

/**
 * The usual limits of what reserves this much: a request never becomes a limit. Where it is above the usual one there is none, as on any
 * cluster; a workspace always has a size.
 */
function makeRoom(usual: WorkloadLimits, { cpu = 0, memoryBytes = 0, diskBytes = 0 }: Amounts): WorkloadLimits {
  const { cpu: usualCpu, memoryBytes: usualMemory, diskBytes: usualDisk, ...rest } = usual
  return {
    ...rest,
    ...(usualCpu !== undefined && cpu <= usualCpu && { cpu: usualCpu }),
    ...(usualMemory !== undefined && memoryBytes <= usualMemory && { memoryBytes: usualMemory }),
    ...(usualDisk !== undefined && { diskBytes: Math.max(usualDisk, diskBytes) }),
  }
}

function pickExtended(resources: ResourceRequirements = {}): Pick<WorkloadLimits, 'extended'> {
  const pick = (quantities: ResourceRequirements['limits'] = {}) =>
    Object.fromEntries(
      Object.entries(quantities).flatMap(([name, quantity]) => (isComputed(name) ? [] : [[name, String(quantity)]])),
    ) as Record<string, string>
  const extended = { requests: pick(resources.requests), limits: pick(resources.limits) }
  const isEmpty = Object.keys({ ...extended.requests, ...extended.limits }).length === 0
  return isEmpty ? {} : { extended }
}

type Amounts = { cpu?: number; memoryBytes?: number; diskBytes?: number }

function readAmounts(quantities: NonNullable<ResourceRequirements['limits']> = {}): Amounts {
  const cpu = tryParseQuantity(quantities.cpu ?? '')
  const memoryBytes = tryParseQuantity(quantities.memory ?? '')
  const diskBytes = tryParseQuantity(quantities['ephemeral-storage'] ?? '')
  return dropUndefined({ cpu, memoryBytes, diskBytes })
}

function timeoutOf(task: Task): number | undefined {
  return task.spec.timeout === undefined ? undefined : tryParseDuration(task.spec.timeout)
}

/** How the worker's tools carry the transaction; undefined when context tokens are off. */
function choosePropagation(
  { settings, tokenExchange }: AttemptDeps,
  task: Task,
  token: string | undefined,
): WorkAssignment['propagation'] {
  if (settings.propagation === undefined) return undefined
  if (task.spec.transaction === undefined) return { mode: 'none' }
  if (tokenExchange !== undefined) return { mode: 'exchange' }
  return token === undefined ? { mode: 'none' } : { mode: 'token', token }
}

type TaskSecrets = { environment: TaskEnvironment; token: string | undefined }

async function buildWorker(deps: AttemptDeps, attempt: NewAttempt, secrets: TaskSecrets): Promise<WorkloadRun> {
  const assignment = await buildAssignment(deps, attempt, secrets)
  const { program } = attempt.references
  return {
    kind: 'worker',
    assignment,
    ...(assignment.agent && program?.found && program.image && { agentImage: program.image }),
  }
}

async function buildAssignment(
  deps: AttemptDeps,
  attempt: NewAttempt,
  { environment, token: taskToken }: TaskSecrets,
): Promise<WorkAssignment> {
  const { task, references } = attempt
  const { settings } = deps
  const { namespace, name, uid } = task.metadata
  const identity = { namespace, taskName: name, taskUid: uid, attempt: attempt.attempt }
  const token = await deps.workerTokens.mint(identity, wantsWorkspace(task) ? 'workspace' : 'own')
  const timeout = timeLeftOf(attempt)
  const [session, inputs] = await Promise.all([
    readSession(deps, task, references.agent),
    deps.records.inputs.list(uid),
  ])
  const propagation = choosePropagation(deps, task, taskToken)
  return {
    version: 1,
    api: { url: settings.workerApiUrl(), token },
    task: { ...describeTask(task, attempt.attempt), ...describeCode(attempt, environment) },
    ...(timeout !== undefined && makeDeadline(attempt.startedAt, timeout)),
    loop: makeLoop(deps, attempt),
    // An agent program gets no key of a provider.
    model: {
      choices: task.spec.type === 'agent' ? [] : references.models,
      ...describeLimit(references.agent),
    },
    agent: await assignAgent(deps, attempt),
    coordination: await assignCoordination(deps, attempt),
    codeHostTools: listCodeHostTools(
      attempt.task,
      attempt.references.agent,
      attempt.references.builtInTools,
      deps.settings.contextMode,
    ),
    ...(attempt.memories.length > 0 && { memories: attempt.memories.map(({ why: _why, ...memory }) => memory) }),
    customTools: references.customTools,
    ...(references.skills.length > 0 && { skills: references.skills }),
    // What changes in a repository is its diff.
    ...(references.checkout === undefined
      ? { keep: settings.keep }
      : { checkout: dropUndefined({ subPath: references.checkout.spec.subPath }) }),
    ...(inputs.length > 0 && { inputs: inputs.map(({ filename }) => filename) }),
    egress: settings.egress,
    search: settings.search,
    propagation,
    session,
    redact: listSecrets([token, taskToken, settings.search?.apiKey, ...environment.secrets], references),
  }
}

/** What a task that goes on has left of its timeout: its time does not start anew. */
function timeLeftOf({ task, lastedMs }: NewAttempt): number | undefined {
  const timeout = timeoutOf(task)
  return timeout === undefined ? undefined : Math.max(1, timeout - lastedMs)
}

function makeDeadline(startedAt: Date, timeoutMs: number): Pick<WorkAssignment, 'deadline' | 'timeoutMs'> {
  return { deadline: new Date(startedAt.getTime() + timeoutMs).toISOString(), timeoutMs }
}

function describeTask(task: Task, attempt: number): WorkAssignment['task'] {
  const { namespace, name, uid } = task.metadata
  const parentTask = parentOf(task)?.name
  const agentName = task.spec.agentRef?.name
  const sessionName = task.spec.sessionRef?.name
  return {
    namespace,
    name,
    uid,
    attempt,
    type: task.spec.type,
    agentName,
    sessionName,
    parentTask,
    traceparent: traceparentOf(task, attempt),
  }
}

/** Environment of the code that the task runs. */
function describeCode({ task, references }: NewAttempt, environment: TaskEnvironment) {
  const variables = { ...environment.variables, ...listTransactionVariables(task.spec.transaction) }
  const files = references.mounted.flatMap(({ folder, entries }) =>
    Object.entries(entries).map(([name, text]) => [`${folder}/${name}`, text]),
  )
  return {
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(files.length > 0 && { files: Object.fromEntries(files) as Record<string, string> }),
  }
}

function describeLimit(agent: Agent | undefined): Pick<WorkAssignment['model'], 'agent'> {
  const limited = limitedAgentOf(agent)
  return limited === undefined ? {} : { agent: limited }
}

function listMountedValues({ mounted }: TaskReferences): string[] {
  return mounted.flatMap(({ entries }) => Object.values(entries))
}

function makeLoop(deps: AttemptDeps, { task, references }: NewAttempt): WorkAssignment['loop'] {
  const ai = task.spec.ai
  const model = references.agent?.spec.model
  const maxTokens = ai?.maxTokens ?? model?.maxTokens
  const temperature = ai?.temperature ?? model?.temperature
  const wanted = ai?.maxIterations ?? references.agent?.spec.maxIterations
  return {
    maxIterations: limitIterations(wanted, maxModelCalls(deps.settings.maxIterations, references.agent)),
    maxToolCalls: deps.settings.maxToolCalls,
    toolTimeoutMs: deps.settings.toolTimeoutMs,
    maxTokens,
    temperature,
    systemPrompt: references.systemPrompt,
    prompt: promptOf(task.spec),
    tools: references.builtInTools,
    outputSchema: ai?.outputSchema,
  }
}

async function readSession(
  deps: AttemptDeps,
  task: Task,
  agent: Agent | undefined,
): Promise<WorkAssignment['session']> {
  const reference = task.spec.sessionRef
  if (reference === undefined) return undefined
  const key = { namespace: task.metadata.namespace, name: reference.name }
  const limit = limitMessages(reference, agent)
  const stored = await deps.records.sessions.transcript(key, { limit })
  return { name: reference.name, messages: stored.map(({ id, ...message }) => message) }
}

function listSecrets(own: (string | undefined)[], references: TaskReferences): string[] {
  // What a worker does not get it cannot show.
  const keys =
    references.agent?.spec.runtime !== undefined ? [] : references.models.map((choice) => choice.provider.apiKey)
  const tools = references.customTools.flatMap(listToolSecrets)
  const values = [...own, ...keys, ...tools, ...listMountedValues(references)].filter(
    (value) => value !== undefined && value !== '',
  )
  return [...new Set(values as string[])]
}
