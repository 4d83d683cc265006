// What a task would do, for the constraints of a context token: its agent, repositories, models and tools as they are
// now.
import type { Access, AccessKind, AccessVerb, TaskFacts } from '../../../contract/api/identity/access.ts'
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import type { Task, TaskSpec } from '../../../contract/kinds/tasks/task.ts'
import { findReferences } from '../../../contract/schema/reference-paths.ts'
import { nameDefault } from '../../../lookup/models.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { expandWishes, listProviderWishes, type ProviderWish } from '../../../rules/providers/model-choice.ts'
import { chooseTools, isServiceTool } from '../../../rules/tools/choice.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { isUseChanged } from './references.ts'

type ContextRequest = { caller: Caller; namespace: string; name: string }

function listWorkspaces(spec: TaskSpec): TaskFacts['workspaces'] {
  return [spec.workspace, spec.agentRuntime?.workspace].flatMap((workspace) => {
    if (workspace?.gitRepo === undefined) return []
    const { gitRepo: repo, branch, ref } = workspace
    return [{ repo, branch, ref }]
  })
}

async function findModel(wish: ProviderWish, { ports }: UsecaseDeps): Promise<TaskFacts['models'][number]> {
  const { namespace, name } = wish
  const model = wish.model ?? (await ports.resources.get('Provider', { namespace, name }))?.spec.defaultModel
  return { namespace, provider: name, model }
}

/** When the agent names no model, its command line chooses one itself; then the model is unknown. */
async function listModels(task: Task, agent: Agent | undefined, deps: UsecaseDeps): Promise<TaskFacts['models']> {
  if (task.spec.type === 'container') return []
  const isOpen = task.spec.type === 'agent' && agent?.spec.providerRef === undefined
  if (isOpen) return [agent?.spec.model?.name === undefined ? {} : { model: agent.spec.model.name }]
  const { resources } = deps.ports
  const wishes = await nameDefault(resources, listProviderWishes(task, agent))
  const provider = await resources.get('Provider', wishes[0])
  return Promise.all(expandWishes(wishes, provider).map((wish) => findModel(wish, deps)))
}

function listTools(task: Task, agent: Agent | undefined): TaskFacts['tools'] {
  const { namespace } = task.metadata
  const qualify = (names: string[]) => names.map((name) => ({ namespace, name }))
  if (task.spec.type === 'container') return []
  if (task.spec.type === 'agent') {
    const names = task.spec.agentRuntime?.allowedTools
    return names === undefined ? 'any' : qualify(names)
  }
  const { builtIn, custom } = chooseTools(task, agent)
  return [...qualify(builtIn), ...custom]
}

/** What the task does that would need a scope if the caller did it without a task. */
function listUses({ metadata: { namespace }, spec }: Task, agent: Agent | undefined, models: TaskFacts['models']) {
  const named = (spec.ai?.tools ?? []).map((name) => ({ namespace, name }))
  const agents = (agent?.spec.tools ?? []).filter(({ enabled, name }) => enabled && !isServiceTool(name))
  const home = agent?.metadata.namespace ?? namespace
  const tools = [...named, ...agents.map(({ name }) => ({ namespace: home, name }))]
  const providers = models.flatMap(({ namespace: ofProvider = namespace, provider }) =>
    provider === undefined ? [] : [{ namespace: ofProvider, name: provider }],
  )
  const skills = (spec.ai?.skills ?? []).flatMap(({ name }) => (name === undefined ? [] : [{ namespace, name }]))
  const sessions = spec.sessionRef === undefined ? [] : [{ namespace, name: spec.sessionRef.name }]
  const uses: [AccessVerb, AccessKind, ResourceKey[]][] = [
    ['use', 'Tool', spec.type === 'ai' ? tools : named],
    ['use', 'Provider', providers],
    ['get', 'Skill', skills],
    ['update', 'Session', sessions],
  ]
  return uses.flatMap(([verb, kind, keys]) => keys.map((key): Access => ({ verb, kind, ...key })))
}

async function describeTask(request: ContextRequest, spec: TaskSpec, deps: UsecaseDeps) {
  const { namespace, name } = request
  const ref = spec.agentRef
  const key = ref && { namespace: ref.namespace ?? namespace, name: ref.name }
  const agent = key && (await deps.ports.resources.get('Agent', key))
  const task = { metadata: { namespace, name }, spec } as Task
  const models = await listModels(task, agent, deps)
  const facts: TaskFacts = {
    type: spec.type,
    agent: key,
    workspaces: listWorkspaces(spec),
    models,
    tools: listTools(task, agent),
  }
  return { facts, uses: listUses(task, agent, models) }
}

/** Objects that use the credential in a Secret on behalf of somebody outside. */
const credentialKinds = new Set<Kind>(['Provider', 'Tool', 'RepositoryMonitor'])

async function requireUse(kind: Kind, request: ContextRequest, spec: SpecOf<Kind>, deps: UsecaseDeps): Promise<void> {
  if (!credentialKinds.has(kind)) return
  const secrets = findReferences(kind, spec as never).filter((reference) => reference.kind === 'Secret')
  for (const { name, namespace } of secrets) {
    const access = { kind: 'Secret' as const, name, namespace: namespace ?? request.namespace }
    await requireAccess(deps.ports, request.caller, { verb: 'use', ...access })
  }
}

/**
 * Forbidden when the caller's context token does not allow what the object would do. Passes for callers without one.
 */
export async function requireContext<K extends Kind>(
  kind: K,
  request: ContextRequest & { spec: SpecOf<K>; before?: { spec: SpecOf<K> } },
  deps: UsecaseDeps,
): Promise<void> {
  const { caller, namespace, name, spec, before } = request
  if (caller.authType !== 'contextToken') return
  if (isUseChanged(kind, before, spec)) await requireUse(kind, request, spec, deps)
  if (kind !== 'Task') return
  const { facts, uses } = await describeTask(request, spec as TaskSpec, deps)
  for (const use of uses) await requireAccess(deps.ports, caller, use)
  const verb: AccessVerb = before === undefined ? 'create' : 'update'
  await requireAccess(deps.ports, caller, { verb, kind, namespace, name, task: facts })
}
