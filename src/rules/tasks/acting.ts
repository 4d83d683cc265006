// Who may act inside somebody's task, or the execution workspace of one: what it was given is there for whoever does.
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { findReferences } from '../../contract/schema/reference-paths.ts'
import { callerKey, readCaller } from '../identity/caller-identity.ts'

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

/** Every Secret that something inside may have the entries of. */
export function listSecretsInside(task: Task, agent: Agent | undefined): Key[] {
  const own = findReferences('Task', task.spec).map((found) => ({ ...found, of: task.metadata.namespace }))
  const agents = agent ? findReferences('Agent', agent.spec).map((f) => ({ ...f, of: agent.metadata.namespace })) : []
  const secrets = [...own, ...agents].filter(({ kind }) => kind === 'Secret')
  const byPath = new Map(secrets.map(({ of, namespace = of, name }) => [`${namespace}/${name}`, { namespace, name }]))
  return [...byPath].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, secret]) => secret)
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
