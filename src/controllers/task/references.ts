// Looks up what a task names: agent, models, tools, skills.
import { resolveModels } from '../../catalog/models.ts'
import { assignTool } from '../../catalog/tools.ts'
import type { AssignedTool, ModelChoice } from '../../contract/api/assignment.ts'
import type { Agent } from '../../contract/resources/agent.ts'
import type { Skill } from '../../contract/resources/skill.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { ResourceReader } from '../../ports/resources.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { listProviderWishes } from '../../rules/model-choice.ts'
import { findTaskProblem } from '../../rules/task-validity.ts'
import { type CustomTool, chooseTools } from '../../rules/tool-choice.ts'
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
    models: await resolveModels(deps, listProviderWishes(task, agent)),
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

async function resolveTool(deps: ReferenceDeps, reference: CustomTool): Promise<AssignedTool> {
  const tool = await deps.resources.get('Tool', reference)
  if (tool !== undefined) return assignTool(deps.secrets, tool)
  const where = `in namespace "${reference.namespace}"`
  throw new SvcError(
    'NotFound',
    `tool "${reference.name}" does not exist ${where}; create it or remove it from the tools`,
  )
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
