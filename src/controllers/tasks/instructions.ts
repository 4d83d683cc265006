// The instructions of a task: its own system prompt or its agent's, and the skills of both.

import type { AssignedSkill } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SkillRef } from '../../contract/kinds/resources/references.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isRead, skillProblems } from '../../contract/kinds/tools/skill.ts'
import { summarize } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'
import { readConfigEntry } from '../../lookup/entries.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import { formatSkill } from '../../rules/tools/skill-content.ts'

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
  if (problems.length > 0) throw new SvcError('InvalidRequest', summarize(`skill "${name}"`, problems))
  if (!isRead(skill.spec)) throw new SvcError('NotFound', `skill "${name}" has not been read from its source yet`)
  return [name, { skill: { name, description: skill.spec.description, ...skill.spec.content } }]
}

/** `skills` are not part of the prompt yet: who runs the task says how they are read. */
export type Instructions = { systemPrompt: string; skills: AssignedSkill[] }

/**
 * NotFound, as a sentence, when a reference does not exist (yet). The task's skill takes precedence over its agent's of
 * the same name.
 */
export async function resolveInstructions(
  deps: InstructionDeps,
  task: Task,
  agent: Agent | undefined,
): Promise<Instructions> {
  const own = await readPrompt(deps, task, agent)
  const named = new Map(await Promise.all(nameSkills(task, agent).map((one) => readSkill(deps, one))))
  const found = [...named.values()]
  const sections = found.flatMap((one) => ('section' in one ? [one.section] : []))
  const skills = found.flatMap((one) => ('skill' in one ? [one.skill] : []))
  const systemPrompt = [own, ...sections].filter((text) => text !== '').join('\n\n')
  return { systemPrompt, skills }
}
