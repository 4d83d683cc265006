// The system prompt of an ai task: its own or its agent's, then the skills of both.
import { readConfigEntry } from '../../catalog/entries.ts'
import type { Agent } from '../../contract/resources/agent.ts'
import type { SkillRef } from '../../contract/resources/references.ts'
import type { SkillContent } from '../../contract/resources/skill.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { ConfigMaps } from '../../ports/configmaps.ts'
import type { ResourceReader } from '../../ports/resources.ts'
import { formatSkill } from '../../rules/skill-content.ts'

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

function listSkills(task: Task, agent: Agent | undefined): Named[] {
  const own = (task.spec.ai?.skills ?? []).map((ref) => ({ ref, ...task.metadata, owner: 'spec.ai.skills' }))
  if (agent === undefined) return own
  const owner = `skills of agent "${agent.metadata.name}"`
  return [...(agent.spec.skills ?? []).map((ref) => ({ ref, ...agent.metadata, owner })), ...own]
}

async function readSkill(deps: InstructionDeps, { ref, namespace, owner }: Named): Promise<[string, SkillContent]> {
  const { name, configMapRef } = ref
  if (configMapRef !== undefined) {
    const entry = { entry: configMapRef.key, owner }
    const inline = await readConfigEntry(deps.configMaps, { namespace, name: configMapRef.name }, entry)
    return [`${configMapRef.name}/${configMapRef.key}`, { inline }]
  }
  const skill = await deps.resources.get('Skill', { namespace, name: name ?? '' })
  if (skill !== undefined) return [skill.metadata.name, skill.spec.content]
  throw new SvcError('NotFound', `skill "${name}" does not exist in namespace "${namespace}"; create it or remove it`)
}

/**
 * NotFound, as a sentence, when a reference does not exist (yet). The task's skill takes precedence over its agent's of
 * the same name.
 */
export async function resolveInstructions(
  deps: InstructionDeps,
  task: Task,
  agent: Agent | undefined,
): Promise<string> {
  const own = await readPrompt(deps, task, agent)
  const skills = new Map(await Promise.all(listSkills(task, agent).map((named) => readSkill(deps, named))))
  const sections = [...skills].map(([name, content]) => formatSkill(name, content))
  return [own, ...sections].filter((text) => text !== '').join('\n\n')
}
