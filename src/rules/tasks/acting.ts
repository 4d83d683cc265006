// Who may act inside somebody's task, or the execution workspace of one: what it was given is there for whoever does.
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { ReferenceTarget, SkillRef } from '../../contract/kinds/resources/references.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { findReferences } from '../../contract/schema/reference-paths.ts'
import { callerKey, readCaller } from '../identity/caller-identity.ts'
import { listProviderWishes } from '../providers/model-choice.ts'
import { chooseTools } from '../tools/choice.ts'

type Key = { namespace: string; name: string }

/** `owner`: namespace of the tasks. An earlier version recorded neither of the facts. */
type Inside = { owner: string; facts: { requester?: string | undefined; secrets?: readonly Key[] } }

/** Undefined when nobody is known: a name alone says nothing, since issuers share names. */
export function keyOfRequester(task: Task): string | undefined {
  const { kind, id, name = '' } = readCaller(task) ?? {}
  return kind === undefined || id === undefined ? undefined : callerKey({ kind, id, name })
}

/** Names the agent that the task uses. */
export function agentKeyOf({ metadata, spec: { agentRef } }: Task): Key | undefined {
  return agentRef && { namespace: agentRef.namespace ?? metadata.namespace, name: agentRef.name }
}

/** What the task and its agent name of a kind. */
function listNamed(target: ReferenceTarget, task: Task, agent: Agent | undefined): Key[] {
  const own = findReferences('Task', task.spec).map((found) => ({ ...found, of: task.metadata.namespace }))
  const agents = agent ? findReferences('Agent', agent.spec).map((f) => ({ ...f, of: agent.metadata.namespace })) : []
  return [...own, ...agents]
    .filter(({ kind }) => kind === target)
    .map(({ of, namespace = of, name }) => ({ namespace, name }))
}

/** Every Secret that something inside may have the entries of. */
export function listSecretsInside(task: Task, agent: Agent | undefined): Key[] {
  const byPath = new Map(listNamed('Secret', task, agent).map((key) => [`${key.namespace}/${key.name}`, key]))
  return [...byPath].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, secret]) => secret)
}

type Uses = (part: Key, task: Task, agent: Agent | undefined) => boolean

const isSame = (a: Key, b: Key | undefined) => a.namespace === b?.namespace && a.name === b.name
const hasSkill = ({ name }: Key, skills: SkillRef[] = []) => skills.some((skill) => skill.name === name)

/** Of each kind that tasks are made of: whether one is part of what the task does. */
export const usesOfParts = {
  Agent: (part, task) => isSame(part, agentKeyOf(task)),
  Skill: (part, task, agent) =>
    (task.metadata.namespace === part.namespace && hasSkill(part, task.spec.ai?.skills)) ||
    (agent?.metadata.namespace === part.namespace && hasSkill(part, agent.spec.skills)),
  // Where none is named any of the namespace may come to answer: others are removed, or cannot be used.
  Provider: (part, task, agent) =>
    task.spec.type !== 'container' &&
    listProviderWishes(task, agent).some((wish) =>
      wish.field === '' ? [wish.namespace, agent?.metadata.namespace].includes(part.namespace) : isSame(part, wish),
    ),
  Tool: (part, task, agent) =>
    task.spec.type === 'ai' && chooseTools(task, agent).custom.some((tool) => isSame(part, tool)),
  ConfigMap: (part, task, agent) => listNamed('ConfigMap', task, agent).some((named) => isSame(part, named)),
} satisfies Record<string, Uses>

/** A kind that tasks are made of. */
export type PartKind = keyof typeof usesOfParts

/**
 * The Secrets that the caller needs the right to; without a name: all of that namespace. Whoever asked for the tasks needs
 * none: what they were given is theirs.
 */
export function listNeededSecrets(
  { owner, facts: { requester, secrets } }: Inside,
  caller: CallerIdentity,
): readonly (Omit<Key, 'name'> & Partial<Key>)[] {
  if (requester === callerKey(caller)) return []
  return secrets ?? [{ namespace: owner }]
}
