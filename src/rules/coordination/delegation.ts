// Delegation: which tasks and agents a coordinator may make, and what they inherit. Nothing that is inherited widens.
import { createHash } from 'node:crypto'
import type { CreateHelper, DelegatedWorkspace } from '../../contract/api/coordination/coordination.ts'
import type { Agent, Coordination } from '../../contract/kinds/agents/agent.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { inheritAttribution } from '../budgets/attribution.ts'
import { callerAnnotationKeys } from '../identity/caller-identity.ts'
import { listProviderWishes } from '../providers/model-choice.ts'
import { cleanupFinalizer, makeOwner, parentAnnotation, parentLabel } from '../tasks/schedule.ts'
import { inheritStamp, toLabel } from '../tasks/stamp.ts'
import { traceparentAnnotation, traceparentOf } from '../tasks/trace-context.ts'
import { builtInTools, chooseTools } from '../tools/choice.ts'
import { gitWorkspaceOf } from '../workspaces/git-workspace.ts'

export const delegationKeys = {
  /** Label of a delegated task; its siblings are counted together. */
  coordinator: 'svc.ai/coordinator',
  agent: 'svc.ai/delegated-agent',
  /** Label with the uid of the first coordinator, for counting all tasks below it. */
  family: 'svc.ai/family',
  /** Annotation: how many coordinators are above the task. */
  depth: 'svc.ai/coordination-depth',
  createdBy: 'svc.ai/created-by',
  /** Label of an agent with the uid of the task that made it. */
  createdByTask: 'svc.ai/created-by-task',
} as const

/** A coordinating task and its agent. */
export type Coordinator = { task: Task; agent: Agent; coordination: Coordination }

/** How many coordinators are above it; 0 for a task that nobody delegated. */
export function depthOf({ metadata }: Pick<Task, 'metadata'>): number {
  const noted = Number(metadata.annotations?.[delegationKeys.depth] ?? 0)
  return Number.isSafeInteger(noted) && noted > 0 ? noted : 0
}

/** The uid of the first coordinator above it, or its own. */
export function taskFamilyOf({ metadata }: Pick<Task, 'metadata'>): string {
  return metadata.labels?.[delegationKeys.family] ?? metadata.uid
}

export function isMadeBy(agent: Pick<Agent, 'metadata'>, { metadata }: Pick<Task, 'metadata'>): boolean {
  return agent.metadata.labels?.[delegationKeys.createdByTask] === metadata.uid
}

const maxNameLength = 63

/** The same call always has the same name, so that repeating it makes nothing new. */
export function nameChild({ metadata }: Pick<Task, 'metadata'>, call: string, args: unknown): string {
  const digest = createHash('sha256')
    .update(`${metadata.uid}\n${call}\n${JSON.stringify(args)}`)
    .digest('hex')
  const suffix = `-child-${digest.slice(0, 8)}`
  return `${trimTrailing(metadata.name.slice(0, maxNameLength - suffix.length), '-')}${suffix}`
}

type AgentName = { namespace: string; name: string }

function listNames(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function isListed({ agent, coordination }: Coordinator, { namespace, name }: AgentName): boolean {
  const home = agent.metadata.namespace
  return (coordination.allowedAgents ?? []).some((one) => one.name === name && (one.namespace ?? home) === namespace)
}

/**
 * Why the coordinator may not delegate to the agent, or undefined. Without a list, or with an empty one, it may use
 * only agents that it made itself. `found`: the agent, when it exists.
 */
export function findHelperAgentProblem(
  coordinator: Coordinator,
  wanted: AgentName,
  found: Agent | undefined,
): string | undefined {
  const { task, agent, coordination } = coordinator
  if (isListed(coordinator, wanted) || (found !== undefined && isMadeBy(found, task))) return undefined
  const allowed = (coordination.allowedAgents ?? []).map(({ name }) => name)
  const own = 'and those that it made itself'
  return `agent "${wanted.name}" is not one that "${agent.metadata.name}" may delegate to; its allowedAgents: ${listNames(allowed)}, ${own}`
}

/** Why there may be no further task below this one, or undefined. `familySize`: how many the first coordinator has. */
export function findDepthProblem(
  { task, coordination }: Coordinator,
  { familySize, maxFamilySize }: { familySize: number; maxFamilySize: number },
): string | undefined {
  const depth = depthOf(task) + 1
  if (depth > coordination.maxDepth) {
    return `this task is ${depthOf(task)} levels below its first coordinator, and coordination.maxDepth is ${coordination.maxDepth}: do the work yourself`
  }
  if (familySize < maxFamilySize) return undefined
  return `the first coordinator already has ${familySize} tasks below it, the most it may have: make no more`
}

/**
 * Why a child may not name the Secret, or undefined: only for the repository for which the coordinator itself has it,
 * because the Secret is sent there.
 */
export function findSecretProblem({ spec }: Task, workspace: DelegatedWorkspace): string | undefined {
  const secret = workspace?.gitSecretRef
  if (workspace === undefined || secret === undefined) return undefined
  const own = gitWorkspaceOf(spec)
  if (own?.gitSecretRef?.name === secret && own.gitRepo === workspace.gitRepo) return undefined
  return `this task has no Secret "${secret}" for ${workspace.gitRepo}; leave gitSecretRef out, or use the repository of this task`
}

/** Who has asked for processes of its own has asked it of all that it makes. */
function inheritIsolation({ task, agent }: Pick<Coordinator, 'task' | 'agent'>): Pick<TaskSpec, 'execution'> {
  const asksForProcess = [task, agent].some(({ spec }) => spec.execution?.isolation === 'process')
  return asksForProcess ? { execution: { isolation: 'process' } } : {}
}

/** `step`: that of the coordinator which makes it. */
type Child = { name: string; agentName?: string | undefined; step?: string | undefined; spec: TaskSpec }

/** Everything about a child but its spec, which `spec` holds without what is inherited. */
export function draftChild(coordinator: Pick<Coordinator, 'task' | 'agent'>, child: Child) {
  const { task: parent } = coordinator
  const { namespace, name, annotations = {} } = parent.metadata
  const stamp = inheritStamp(parent)
  const callers = Object.entries(annotations).filter(([key]) => callerAnnotationKeys.includes(key))
  return {
    metadata: {
      namespace,
      name: child.name,
      labels: {
        ...stamp.labels,
        [parentLabel]: toLabel(name),
        [delegationKeys.coordinator]: 'true',
        [delegationKeys.family]: taskFamilyOf(parent),
        ...(child.agentName !== undefined && { [delegationKeys.agent]: toLabel(child.agentName) }),
      },
      annotations: {
        ...stamp.annotations,
        ...Object.fromEntries(callers),
        ...inheritAttribution(parent),
        [parentAnnotation]: name,
        [traceparentAnnotation]: traceparentOf(parent, parent.status?.attempts ?? 1, child.step),
        [delegationKeys.depth]: String(depthOf(parent) + 1),
      },
      finalizers: [cleanupFinalizer],
      ownerReferences: [makeOwner(parent)],
    },
    spec: { ...child.spec, ...stamp.spec, ...inheritIsolation(coordinator) },
  }
}

/** Providers that the coordinator itself uses; an agent that it makes may use no other. */
function listOwnProviders({ task, agent }: Coordinator): string[] {
  const { namespace } = task.metadata
  return listProviderWishes(task, agent).flatMap((wish) => (wish.namespace === namespace ? [wish.name] : []))
}

function findUnowned(wanted: readonly string[], own: readonly string[]): string[] {
  return wanted.filter((name) => !own.includes(name))
}

/** Tools that the new agent cannot have: they need approval, and only an agent that coordinates asks for it. */
function listUnasked({ coordination }: Coordinator, wanted: CreateHelper): readonly string[] {
  return wanted.coordination?.enabled === true ? [] : (coordination.approvalRequiredTools ?? [])
}

/** Why the coordinator may not make the agent, or undefined: it has no more than the coordinator has. */
export function findHelperProblem(coordinator: Coordinator, wanted: CreateHelper): string | undefined {
  const { task, agent, coordination } = coordinator
  const providers = listOwnProviders(coordinator)
  if (!providers.includes(wanted.provider)) {
    return `provider "${wanted.provider}" is not one that this task uses: ${listNames(providers)}`
  }
  const { builtIn, custom } = chooseTools(task, agent)
  const tools = [...builtIn, ...custom.map(({ name }) => name)]
  const foreign = findUnowned(wanted.tools ?? [], tools)
  if (foreign.length > 0) return `tools that this task does not have: ${foreign.join(', ')}; it has ${listNames(tools)}`
  const unasked = listUnasked(coordinator, wanted).filter((name) => wanted.tools?.includes(name))
  if (unasked.length > 0) {
    return `tools that need approval: ${unasked.join(', ')}; set coordination.enabled, or leave them out`
  }
  const agents = (coordination.allowedAgents ?? []).map(({ name }) => name)
  const unknown = findUnowned(wanted.coordination?.allowedAgents ?? [], agents)
  if (unknown.length === 0) return undefined
  return `agents that this task may not delegate to: ${unknown.join(', ')}; it may to ${listNames(agents)}`
}

/** The coordination of an agent that a coordinator made: never wider than the coordinator's own. */
function narrowCoordination({ agent, coordination }: Coordinator, wanted: NonNullable<CreateHelper['coordination']>) {
  const { approvalRequiredTools, approvers, allowedAgents = [] } = coordination
  return {
    enabled: wanted.enabled,
    // With their namespace, because the new agent may live in another one than the coordinator's agent.
    allowedAgents: allowedAgents
      .filter(({ name }) => wanted.allowedAgents?.includes(name))
      .map(({ name, namespace = agent.metadata.namespace }) => ({ name, namespace })),
    maxConcurrentChildren: Math.min(
      wanted.maxConcurrentChildren ?? coordination.maxConcurrentChildren,
      coordination.maxConcurrentChildren,
    ),
    maxDepth: Math.min(wanted.maxDepth ?? coordination.maxDepth, coordination.maxDepth),
    ...(wanted.enabled && approvalRequiredTools !== undefined && { approvalRequiredTools }),
    ...(approvers !== undefined && { approvers }),
  }
}

/** The spec of an agent that a coordinator makes. Without a list it has the built-in tools that the coordinator has. */
export function makeHelperSpec(coordinator: Coordinator, wanted: CreateHelper): Record<string, unknown> {
  const { task, agent } = coordinator
  const { builtIn } = chooseTools(task, agent)
  const unasked = listUnasked(coordinator, wanted)
  const on = wanted.tools ?? builtIn.filter((name) => !unasked.includes(name))
  const off = builtInTools.filter((name) => !on.includes(name))
  return {
    providerRef: { name: wanted.provider },
    model: { name: wanted.model },
    ...(wanted.systemPrompt !== undefined && { systemPrompt: { inline: wanted.systemPrompt } }),
    tools: [...on.map((name) => ({ name, enabled: true })), ...off.map((name) => ({ name, enabled: false }))],
    ...(wanted.coordination !== undefined && { coordination: narrowCoordination(coordinator, wanted.coordination) }),
    ...inheritIsolation(coordinator),
  }
}
