// Looks up what a task names: agent, providers with their keys, tools, skills. Nothing is cached: a task sees the present.
import type { AssignedTool, ModelChoice } from '../../contract/api/assignment.ts'
import { parseDuration } from '../../contract/duration.ts'
import type { Agent } from '../../contract/resources/agent.ts'
import type { Provider } from '../../contract/resources/provider.ts'
import type { Skill } from '../../contract/resources/skill.ts'
import type { Task } from '../../contract/resources/task.ts'
import type { Tool } from '../../contract/resources/tool.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { type ChosenModel, chooseModels, listProviderWishes } from '../../rules/model-choice.ts'
import { findTaskProblem } from '../../rules/task-validity.ts'
import { type CustomTool, chooseTools } from '../../rules/tool-choice.ts'
import { isTrustedAddress, readAllowedHosts } from '../../rules/trusted-address.ts'
import { formatKey } from '../engine/key.ts'
import type { TaskSettings } from './settings.ts'

export type References = {
  agent: Agent | undefined
  models: ModelChoice[]
  builtInTools: string[]
  customTools: AssignedTool[]
  skills: Skill[]
}

type ReferenceDeps = { resources: ResourceReader; secrets: Secrets; settings: TaskSettings }

/**
 * NotFound when something named does not exist (yet): the task waits for it, for a while (TASK-035). InvalidRequest when
 * the task can not run as it is and another attempt would change nothing. Both in a sentence for the task's status.
 */
export async function resolveReferences(deps: ReferenceDeps, task: Task): Promise<References> {
  const agent = await findAgent(deps.resources, task)
  const problem = findTaskProblem(task, agent, deps.settings)
  if (problem !== undefined) throw new SvcError('InvalidRequest', problem)
  if (task.spec.type === 'container') {
    return { agent, models: [], builtInTools: [], customTools: [], skills: [] }
  }
  const tools = chooseTools(task, agent)
  return {
    agent,
    models: await resolveModels(deps, task, agent),
    builtInTools: tools.builtIn,
    customTools: await Promise.all(tools.custom.map((tool) => resolveTool(deps, tool))),
    skills: await resolveSkills(deps.resources, task, agent),
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

async function resolveModels(deps: ReferenceDeps, task: Task, agent: Agent | undefined): Promise<ModelChoice[]> {
  const wishes = listProviderWishes(task, agent)
  const providers = new Map<string, Provider>()
  for (const wish of wishes) {
    const provider = await deps.resources.get('Provider', wish)
    if (provider !== undefined) providers.set(formatKey(wish), provider)
  }
  const chosen = chooseModels(wishes, (key) => providers.get(formatKey(key)))
  if (chosen.outcome === 'missing') throw new SvcError('NotFound', chosen.message)
  if (chosen.outcome === 'invalid') throw new SvcError('InvalidRequest', chosen.message)
  const [first, ...fallbacks] = chosen.choices
  const assigned = [await assignModel(deps, first)]
  for (const fallback of fallbacks) {
    // A fallback without its key is no fallback; the first choice is what the task needs.
    const choice = await assignModel(deps, fallback).catch(ignoreMissing)
    if (choice !== undefined) assigned.push(choice)
  }
  return assigned
}

function ignoreMissing(error: unknown): undefined {
  if (!isSvcError(error, 'NotFound')) throw error
}

async function assignModel(deps: ReferenceDeps, { provider, model }: ChosenModel): Promise<ModelChoice> {
  const { spec, metadata } = provider
  const credential = await readProviderKey(deps.secrets, provider)
  const isLimited = spec.rateLimit?.requestsPerMinute !== undefined || spec.rateLimit?.tokensPerMinute !== undefined
  return {
    model,
    provider: {
      namespace: metadata.namespace,
      name: metadata.name,
      type: spec.type,
      rateLimited: isLimited,
      ...(spec.baseURL !== undefined && { baseUrl: spec.baseURL }),
      ...(spec.azure !== undefined && { azure: spec.azure }),
      ...(spec.price !== undefined && { price: spec.price }),
      ...(isTrustedAddress(provider) && { trusted: true }),
      ...credential,
    },
  }
}

async function readProviderKey(secrets: Secrets, provider: Provider) {
  const reference = provider.spec.secretRef
  if (reference === undefined) return {}
  const owner = `provider "${provider.metadata.name}"`
  const key = { namespace: provider.metadata.namespace, name: reference.name }
  const { value, allowedHosts } = await readEntry(secrets, key, { entry: reference.key, owner })
  return { apiKey: value, ...(allowedHosts && { allowedHosts }) }
}

type Entry = { entry: string; owner: string }

/** One value of a Secret and the hosts it may be sent to. */
export async function readEntry(secrets: Secrets, key: ResourceKey, { entry, owner }: Entry) {
  const values = await secrets.read(key)
  const where = `secret "${key.name}" in namespace "${key.namespace}"`
  if (values === undefined) throw new SvcError('NotFound', `${where}, named by ${owner}, does not exist; create it`)
  const value = values[entry]
  if (value === undefined || value === '') {
    throw new SvcError('NotFound', `${where} has no value under "${entry}", which ${owner} needs; add it`)
  }
  const metadata = await secrets.describe(key)
  return { value, allowedHosts: readAllowedHosts(metadata?.annotations) }
}

async function resolveTool(deps: ReferenceDeps, reference: CustomTool): Promise<AssignedTool> {
  const tool = await deps.resources.get('Tool', reference)
  if (tool === undefined) {
    const where = `in namespace "${reference.namespace}"`
    throw new SvcError(
      'NotFound',
      `tool "${reference.name}" does not exist ${where}; create it or remove it from the tools`,
    )
  }
  const url = tool.spec.http?.url
  if (url === undefined || tool.spec.http === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `tool "${reference.name}" needs actor support, which this service does not have; remove it`,
    )
  }
  const { method, headers = {}, timeout } = tool.spec.http
  const credential = await readToolToken(deps.secrets, tool)
  return {
    name: reference.name,
    description: tool.spec.description,
    // Both vendor families want an object schema, also of a tool without arguments.
    parameters: { type: 'object', properties: {}, ...tool.spec.parameters },
    http: { url, method, headers, timeoutMs: parseDuration(timeout), ...credential },
  }
}

async function readToolToken(secrets: Secrets, tool: Tool) {
  const { authSecretRef, authInject, authBodyKey } = tool.spec.http ?? {}
  if (authSecretRef === undefined || authInject === undefined) return {}
  const key = { namespace: tool.metadata.namespace, name: authSecretRef.name }
  const entry = { entry: authSecretRef.key, owner: `tool "${tool.metadata.name}"` }
  const { value, allowedHosts } = await readEntry(secrets, key, entry)
  const auth = { inject: authInject, token: value, ...(authBodyKey !== undefined && { bodyKey: authBodyKey }) }
  return { auth, ...(allowedHosts && { allowedHosts }) }
}

async function resolveSkills(resources: ResourceReader, task: Task, agent: Agent | undefined): Promise<Skill[]> {
  const agents = (agent?.spec.skills ?? []).map(({ name }) => ({ name, namespace: agent?.metadata.namespace }))
  const own = (task.spec.ai?.skills ?? []).map(({ name }) => ({ name, namespace: task.metadata.namespace }))
  const skills = new Map<string, Skill>()
  for (const { name, namespace } of [...agents, ...own]) {
    if (name === undefined || namespace === undefined) continue
    const skill = await resources.get('Skill', { namespace, name })
    if (skill === undefined) {
      throw new SvcError(
        'NotFound',
        `skill "${name}" does not exist in namespace "${namespace}"; create it or remove it`,
      )
    }
    skills.set(name, skill)
  }
  return [...skills.values()]
}
