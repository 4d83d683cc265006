// Resolves what a task refers to: agent, models, tools, instructions, skills, memories.
import type { AssignedSkill, ModelChoice } from '../../contract/api/tasks/assignment.ts'
import { secretFolders } from '../../contract/api/tasks/worker-pod.ts'
import type { AssignedTool } from '../../contract/api/tools/assigned-tool.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SkillRef } from '../../contract/kinds/resources/references.ts'
import { promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { isRead, skillProblems } from '../../contract/kinds/tools/skill.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { readConfigEntry, readSecret } from '../../lookup/entries.ts'
import { resolveModels } from '../../lookup/models.ts'
import { assignTool, type ToolParts } from '../../lookup/tools.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { Memory } from '../../ports/memory/memories.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { ResourceKey, ResourceReader, Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { Results } from '../../ports/tasks/outputs.ts'
import type { AttemptCheckout, MountedSecret } from '../../ports/tasks/workloads.ts'
import { findProgramOf, type InstalledAgentProgram } from '../../rules/agents/programs.ts'
import { allowsModel, allowsTool } from '../../rules/identity/context-token.ts'
import {
  chooseMemories,
  createPromptFit,
  type ProvidedMemory,
  providedMemories,
  queryOfPrompt,
  readSentences,
} from '../../rules/memory/prompt-fit.ts'
import { listProviderWishes } from '../../rules/providers/model-choice.ts'
import { isConfined } from '../../rules/tasks/bounds.ts'
import { findTaskProblem } from '../../rules/tasks/validity.ts'
import { type CustomTool, chooseTools } from '../../rules/tools/choice.ts'
import { formatSkill } from '../../rules/tools/skills.ts'
import { resolveAgentModel } from './agent-model.ts'
import { resolveCheckout } from './checkout.ts'
import { type ReconcileContext, type TaskSettings, taskKeyOf } from './context.ts'

export async function recallMemories(context: ReconcileContext, task: Task): Promise<ProvidedMemory[]> {
  if (task.spec.type !== 'ai' || isConfined(task)) return []
  const { namespace, uid } = task.metadata
  const prompt = promptOf(task.spec)
  const wanted = queryOfPrompt(prompt)
  try {
    const { vector, notice } = (await context.queryVectors?.of(namespace, wanted)) ?? {}
    if (notice !== undefined)
      context.log.warn({ task: taskKeyOf(task), notice }, 'memories were searched with less than usual')
    const { memories } = context.records
    const sentences = readSentences(prompt)
    const shareOf = createPromptFit(sentences, await memories.weigh(namespace, sentences.flat()))
    const accept = (memory: Memory) => shareOf(memory) !== undefined
    const query = { namespace, query: wanted, vector, limit: providedMemories.count, reader: uid, accept }
    return chooseMemories(await memories.recall(query), shareOf)
  } catch (error) {
    context.log.warn({ task: taskKeyOf(task), error: messageOf(error) }, 'memories could not be recalled')
    return []
  }
}

type InstructionDeps = { resources: ResourceReader; configMaps: ConfigMaps }
type Named = { ref: SkillRef; namespace: string; owner: string }

async function readPrompt({ configMaps }: InstructionDeps, task: Task, agent: Agent | undefined): Promise<string> {
  const own = task.spec.ai?.systemPrompt
  const { inline, configMapRef } = agent?.spec.systemPrompt ?? {}
  if (own !== undefined || agent === undefined || configMapRef === undefined) return own ?? inline ?? ''
  const { namespace, name: agentName } = agent.metadata
  const entry = { entry: configMapRef.key, owner: `systemPrompt of agent "${agentName}"` }
  return await readConfigEntry(configMaps, { namespace, name: configMapRef.name }, entry)
}

function nameSkills(task: Task, agent: Agent | undefined): Named[] {
  const own = (task.spec.ai?.skills ?? []).map((ref) => ({ ref, ...task.metadata, owner: 'spec.ai.skills' }))
  if (agent === undefined) return own
  const owner = `skills of agent "${agent.metadata.name}"`
  return [...(agent.spec.skills ?? []).map((ref) => ({ ref, ...agent.metadata, owner })), ...own]
}

/** A Skill is listed and read when it is needed; a text of a config map has no description to be listed by. */
type Found = { skill: AssignedSkill } | { section: string }

async function readSkill(deps: InstructionDeps, { ref, namespace, owner }: Named): Promise<[string, Found]> {
  const { name = '', configMapRef } = ref
  if (configMapRef !== undefined) {
    const entry = { entry: configMapRef.key, owner }
    const text = await readConfigEntry(deps.configMaps, { namespace, name: configMapRef.name }, entry)
    const shown = `${configMapRef.name}/${configMapRef.key}`
    return [shown, { section: formatSkill(shown, text) }]
  }
  const skill = await deps.resources.get('Skill', { namespace, name })
  if (skill === undefined) {
    throw new SvcError('NotFound', `skill "${name}" does not exist in namespace "${namespace}"; create it or remove it`)
  }
  const problems = skillProblems(skill.spec)
  if (problems.length > 0) throw new SvcError('InvalidRequest', summarizeProblems(`skill "${name}"`, problems))
  if (!isRead(skill.spec)) throw new SvcError('NotFound', `skill "${name}" has not been read from its source yet`)
  return [name, { skill: { name, description: skill.spec.description, ...skill.spec.content } }]
}

/** `skills` are not part of the prompt yet: who runs the task says how they are read. */
type Instructions = { systemPrompt: string; skills: AssignedSkill[] }

/**
 * NotFound, as a sentence, when a reference does not exist (yet). The task's skill takes precedence over its agent's of
 * the same name.
 */
async function resolveInstructions(deps: InstructionDeps, task: Task, agent: Agent | undefined): Promise<Instructions> {
  const own = await readPrompt(deps, task, agent)
  const named = new Map(await Promise.all(nameSkills(task, agent).map((one) => readSkill(deps, one))))
  const found = [...named.values()]
  const sections = found.flatMap((one) => ('section' in one ? [one.section] : []))
  const skills = found.flatMap((one) => ('skill' in one ? [one.skill] : []))
  const systemPrompt = [own, ...sections].filter((text) => text !== '').join('\n\n')
  return { systemPrompt, skills }
}

export type TaskReferences = Instructions & {
  agent: Agent | undefined
  models: ModelChoice[]
  builtInTools: string[]
  customTools: AssignedTool[]
  /** The Secrets that task and agent name in `secretRef`. */
  mounted: MountedSecret[]
  /** The repository that the task works in. */
  checkout: AttemptCheckout | undefined
  /** That of its agent, as it is now. */
  program?: InstalledAgentProgram | undefined
}

/** An attempt that is about to start. */
export type NewAttempt = {
  task: Task
  attempt: number
  startedAt: Date
  /** How much of the task's time a parked one has had before, in milliseconds. */
  lastedMs: number
  references: TaskReferences
  /** What it begins with of durable memory. */
  memories: ProvidedMemory[]
}

type ReferenceDeps = ToolParts & {
  resources: Resources
  configMaps: ConfigMaps
  codeHosts?: CodeHosts
  records: { results: Results }
  settings: TaskSettings
}

/**
 * NotFound when a reference does not exist (yet): the task waits for it, for a while (TASK-035). InvalidRequest when
 * the task cannot run as it is and another attempt would not help. Both are sentences for the task's status.
 */
export async function resolveReferences(deps: ReferenceDeps, task: Task): Promise<TaskReferences> {
  const agent = await findAgent(deps.resources, task)
  const program = await findProgramOf(agent?.spec.runtime, deps.settings.agentPrograms)
  const problem = findTaskProblem(task, agent, { ...deps.settings, program })
  if (problem !== undefined) throw new SvcError('InvalidRequest', problem)
  const mounted = task.spec.type === 'agent' ? [] : await readMounted(deps.secrets, task, agent)
  const checkout = await resolveCheckout(deps, task)
  if (task.spec.type === 'container') {
    return { agent, models: [], builtInTools: [], customTools: [], systemPrompt: '', skills: [], mounted, checkout }
  }
  if (task.spec.type === 'agent' && agent !== undefined)
    return await resolveAgentTask(deps, task, { agent, checkout, program })
  const tools = keepAllowedTools(deps.settings, task, agent)
  return {
    agent,
    models: keepAllowed(deps.settings, task, await resolveModels(deps, listProviderWishes(task, agent))),
    builtInTools: tools.builtIn,
    customTools: await Promise.all(tools.custom.map((tool) => resolveTool(deps, tool))),
    ...(await resolveInstructions(deps, task, agent)),
    mounted,
    checkout,
  }
}

/** What its Secret holds is for its provider: nothing is shown to the program. */
async function resolveAgentTask(
  deps: ReferenceDeps,
  task: Task,
  { agent, ...found }: { agent: Agent } & Pick<TaskReferences, 'checkout' | 'program'>,
): Promise<TaskReferences> {
  const models = keepAllowed(deps.settings, task, [await resolveAgentModel(deps, task, agent)])
  const instructions = await resolveInstructions(deps, task, agent)
  return { agent, models, builtInTools: [], customTools: [], ...instructions, mounted: [], ...found }
}

/** Leaves out fallbacks that the task's context forbids; InvalidRequest when it forbids the first choice. */
function keepAllowed({ contextMode }: TaskSettings, task: Task, models: ModelChoice[]): ModelChoice[] {
  const context = task.spec.transaction?.context
  if (context === undefined) return models
  const isAllowed = ({ provider: { namespace, name }, model }: ModelChoice) =>
    allowsModel({ namespace, provider: name, model }, context, contextMode)
  const [first] = models
  if (first === undefined || isAllowed(first)) return models.filter(isAllowed)
  const what = `model "${first.model}" of provider "${first.provider.name}"`
  throw new SvcError('InvalidRequest', `${what} is not allowed by the context token that asked for this task`)
}

/** Leaves out tools that its agent has gained since the task's context was checked, and that the context forbids. */
function keepAllowedTools({ contextMode }: TaskSettings, task: Task, agent: Agent | undefined) {
  const { builtIn, custom } = chooseTools(task, agent)
  const context = task.spec.transaction?.context
  if (context === undefined) return { builtIn, custom }
  const { namespace } = task.metadata
  return {
    builtIn: builtIn.filter((name) => allowsTool({ namespace, name }, context, contextMode)),
    custom: custom.filter((tool) => allowsTool(tool, context, contextMode)),
  }
}

async function findAgent(resources: ResourceReader, task: Task): Promise<Agent | undefined> {
  const reference = task.spec.agentRef
  if (reference === undefined) return undefined
  const key = { namespace: reference.namespace ?? task.metadata.namespace, name: reference.name }
  const agent = await resources.get('Agent', key)
  if (agent !== undefined) return agent
  throw new SvcError(
    'NotFound',
    `agent "${key.name}" does not exist in namespace "${key.namespace}"; create it or change spec.agentRef`,
  )
}

async function readMounted(secrets: Secrets, task: Task, agent: Agent | undefined): Promise<MountedSecret[]> {
  const own = task.spec.secretRef
  const agents = agent?.spec.secretRef
  const mount = async (key: ResourceKey, folder: string, owner: string): Promise<MountedSecret> => {
    const { values: entries, where } = await readSecret(secrets, key, { owner, forCode: true })
    const odd = Object.keys(entries).find((name) => name.startsWith('..') || name === '.')
    if (odd !== undefined)
      throw new SvcError('InvalidRequest', `${where} has an entry "${odd}", which cannot be a file name`)
    return { ...key, folder, entries }
  }
  const mounted: MountedSecret[] = []
  if (own !== undefined) {
    const key = { namespace: own.namespace ?? task.metadata.namespace, name: own.name }
    mounted.push(await mount(key, secretFolders.task, 'spec.secretRef'))
  }
  if (agent !== undefined && agents !== undefined) {
    const key = { namespace: agent.metadata.namespace, name: agents.name }
    mounted.push(await mount(key, secretFolders.agent, `agent "${agent.metadata.name}"`))
  }
  return mounted
}

async function resolveTool(deps: ReferenceDeps, reference: CustomTool): Promise<AssignedTool> {
  const tool = await deps.resources.get('Tool', reference)
  if (tool !== undefined) return assignTool(deps, tool)
  const where = `in namespace "${reference.namespace}"`
  throw new SvcError(
    'NotFound',
    `tool "${reference.name}" does not exist ${where}; create it or remove it from the tools`,
  )
}
