// Who may act inside somebody's task, or the execution workspace of one: what it was given is there for whoever does.
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { ReferenceTarget, SkillRef } from '../../contract/kinds/resources/references.ts'
import { isTerminalPhase, type Task, taskPhases } from '../../contract/kinds/tasks/task.ts'
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

/** Of tasks that something can still be done inside. */
export const unfinishedPhases = taskPhases.filter((phase) => !isTerminalPhase(phase))

/** What a task is made of; without a name: each of the namespace, also one that somebody makes later. */
export type Part = Pick<Key, 'namespace'> & Partial<Key>

type ListParts = (task: Task, agent: Agent | undefined) => Part[]

function listSkills(namespace: string, skills: SkillRef[] = []): Part[] {
  return skills.flatMap(({ name }) => (name === undefined ? [] : [{ namespace, name }]))
}

/** Of each kind that tasks are made of: those that are part of what the task does. */
export const partsOfTasks = {
  Agent: (task) => [agentKeyOf(task) ?? []].flat(),
  Skill: (task, agent) => [
    ...listSkills(task.metadata.namespace, task.spec.ai?.skills),
    ...(agent ? listSkills(agent.metadata.namespace, agent.spec.skills) : []),
  ],
  // Where none is named any of the namespace may come to answer: others are removed, or cannot be used.
  Provider: (task, agent) =>
    task.spec.type === 'container'
      ? []
      : listProviderWishes(task, agent).flatMap(({ field, namespace, name }): Part[] => {
          if (field !== '') return [{ namespace, name }]
          return [{ namespace }, ...(agent ? [{ namespace: agent.metadata.namespace }] : [])]
        }),
  Tool: (task, agent) => (task.spec.type === 'ai' ? chooseTools(task, agent).custom : []),
  ConfigMap: (task, agent) => listNamed('ConfigMap', task, agent),
} satisfies Record<string, ListParts>

/** A kind that tasks are made of. */
export type PartKind = keyof typeof partsOfTasks

/** Whether the object is one of the parts. */
export function isAmong(parts: readonly Part[], { namespace, name }: Key): boolean {
  return parts.some((part) => part.namespace === namespace && (part.name === undefined || part.name === name))
}

/** The providers that this one falls back on: they are parts of what it is part of. */
export function fallbacksOf({ metadata, spec }: Pick<Provider, 'metadata' | 'spec'>): Key[] {
  return (spec.fallbacks ?? []).map(({ providerRef: { namespace = metadata.namespace, name } }) => ({
    namespace,
    name,
  }))
}

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
