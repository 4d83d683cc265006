// Whoever acts inside somebody's task gets at what it was given: every door to a task or its workspace asks here.
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { SkillRef } from '../../../contract/kinds/resources/references.ts'
import { type Task, taskPhases, terminalPhases } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { listEach } from '../../../lookup/listing.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey, ResourceQuery } from '../../../ports/resources/resources.ts'
import { callerKey, identifyCaller } from '../../../rules/identity/caller-identity.ts'
import { agentKeyOf, keyOfRequester, listNeededSecrets, listSecretsInside } from '../../../rules/tasks/acting.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { isUseChanged, requireSecret } from './references.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

type Inside = Parameters<typeof listNeededSecrets>[0]

/** Forbidden unless the caller asked for it, or has the right to every Secret that it was given. `whose` begins the reason. */
export async function requireActing(caller: Caller, inside: Inside, whose: string, deps: UsecaseDeps): Promise<void> {
  try {
    for (const { namespace, name } of listNeededSecrets(inside, identifyCaller(caller))) {
      if (name !== undefined) await requireSecret(caller, { namespace, name }, deps)
      else await requireAccess(deps.ports, caller, { verb: 'get', kind: 'Secret', namespace })
    }
  } catch (error) {
    if (!isSvcError(error, 'Forbidden')) throw error
    throw new SvcError('Forbidden', `${whose}: ${error.message}; or ask whoever created them`)
  }
}

async function findAgent(task: Task, { ports }: UsecaseDeps): Promise<Agent | undefined> {
  const key = agentKeyOf(task)
  return key && (await ports.resources.get('Agent', key))
}

/** Forbidden unless the task is the caller's own, or the caller has the right to every Secret of it and its agent. */
export async function requireActingInTask(caller: Caller, task: Task, deps: UsecaseDeps): Promise<void> {
  const { namespace: owner, name } = task.metadata
  const secrets = listSecretsInside(task, await findAgent(task, deps))
  // A model may leave in place what a person named.
  const by = { ...caller, isModel: false }
  const whose = `task "${name}" is one of somebody else's tasks, and a Secret is given to it`
  await requireActing(by, { owner, facts: { requester: keyOfRequester(task), secrets } }, whose, deps)
}

/** An unfinished task, with its agent as it is stored. */
type User = { task: Task; agent: Agent | undefined }

const unfinishedPhases = taskPhases.filter((phase) => !terminalPhases.some((terminal) => terminal === phase))

/** Phase by phase, since the index finds objects by one value; what goes from pending to running meanwhile is not missed. */
async function* listUnfinished(query: ResourceQuery, { ports }: UsecaseDeps): AsyncGenerator<Task> {
  for (const phase of unfinishedPhases)
    yield* listEach(ports.resources, 'Task', { ...query, fields: { ...query.fields, phase } })
}

async function* listUsersOfAgent(
  { namespace, name }: ResourceKey,
  agent: Agent | undefined,
  deps: UsecaseDeps,
): AsyncGenerator<User> {
  for await (const task of listUnfinished({ fields: { agent: name } }, deps))
    if (agentKeyOf(task)?.namespace === namespace) yield { task, agent }
}

async function* listUsersOfSkill({ namespace, name }: ResourceKey, deps: UsecaseDeps): AsyncGenerator<User> {
  const isNamed = (skills: SkillRef[] = []) => skills.some((skill) => skill.name === name)
  for await (const task of listUnfinished({ namespace, fields: { type: 'ai' } }, deps))
    if (isNamed(task.spec.ai?.skills)) yield { task, agent: await findAgent(task, deps) }
  for await (const agent of listEach(deps.ports.resources, 'Agent', { namespace }))
    if (isNamed(agent.spec.skills)) yield* listUsersOfAgent(agent.metadata, agent, deps)
}

/** Forbidden when the caller may not act inside one of the tasks that use it. A Secret is asked for once. */
async function requireActingInUsers(
  { caller, namespace, name }: ResourceKey & { caller: Caller },
  noun: string,
  users: AsyncIterable<User>,
  deps: UsecaseDeps,
): Promise<void> {
  const asked = new Set<string>()
  for await (const { task, agent } of users) {
    if (keyOfRequester(task) === callerKey(identifyCaller(caller))) continue
    const { namespace: owner } = task.metadata
    const user = owner === namespace ? `task "${task.metadata.name}"` : 'a task of another namespace'
    const whose = `${noun} "${name}" is used by ${user}, which is somebody else's and has not ended, and a Secret is given to it; wait until it ends, or make another ${noun}`
    const secrets = listSecretsInside(task, agent).filter((secret) => !asked.has(`${secret.namespace}/${secret.name}`))
    await requireActing({ ...caller, isModel: false }, { owner, facts: { secrets } }, whose, deps)
    for (const secret of secrets) asked.add(`${secret.namespace}/${secret.name}`)
  }
}

/**
 * Forbidden when an unfinished task uses the agent and the caller may not act inside it. Also for a new agent: a task
 * takes the one that has the name. Removing one gives a task nothing.
 */
export async function admitAgent(request: AdmissionRequest<'Agent'>, deps: UsecaseDeps): Promise<Admitted> {
  const { spec, before } = request
  if (isUseChanged('Agent', before, spec))
    await requireActingInUsers(request, 'agent', listUsersOfAgent(request, before, deps), deps)
  return {}
}

/** Forbidden when an unfinished task, or the agent of one, names the skill: as for agents. */
export async function admitSkill(request: AdmissionRequest<'Skill'>, deps: UsecaseDeps): Promise<Admitted> {
  const { spec, before } = request
  if (isUseChanged('Skill', before, spec))
    await requireActingInUsers(request, 'skill', listUsersOfSkill(request, deps), deps)
  return {}
}
