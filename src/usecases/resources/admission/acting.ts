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

/** Forbidden unless the task is the caller's own, or the caller has the right to every Secret of it and its agent; and as for its session. */
export async function requireActingInTask(caller: Caller, task: Task, deps: UsecaseDeps): Promise<void> {
  const { namespace: owner, name } = task.metadata
  const secrets = listSecretsInside(task, await findAgent(task, deps))
  // A model may leave in place what a person named.
  const by = { ...caller, isModel: false }
  const whose = `task "${name}" is one of somebody else's tasks, and a Secret is given to it`
  await requireActing(by, { owner, facts: { requester: keyOfRequester(task), secrets } }, whose, deps)
  await requireActingInSession(caller, task, deps)
}

const unfinishedPhases = taskPhases.filter((phase) => !terminalPhases.some((terminal) => terminal === phase))

/** All phases in one list, which is of one moment: a task that goes from one to the other is in it. */
function listUnfinished(query: ResourceQuery, { ports }: UsecaseDeps): AsyncGenerator<Task> {
  return listEach(ports.resources, 'Task', { ...query, fields: { ...query.fields, phase: unfinishedPhases } })
}

async function* listUsersOfAgent({ namespace, name }: ResourceKey, deps: UsecaseDeps): AsyncGenerator<Task> {
  for await (const task of listUnfinished({ fields: { agent: name } }, deps))
    if (agentKeyOf(task)?.namespace === namespace) yield task
}

async function* listUsersOfSkill({ namespace, name }: ResourceKey, deps: UsecaseDeps): AsyncGenerator<Task> {
  const isNamed = (skills: SkillRef[] = []) => skills.some((skill) => skill.name === name)
  for await (const task of listUnfinished({ namespace, fields: { type: 'ai' } }, deps))
    if (isNamed(task.spec.ai?.skills)) yield task
  for await (const agent of listEach(deps.ports.resources, 'Agent', { namespace }))
    if (isNamed(agent.spec.skills)) yield* listUsersOfAgent(agent.metadata, deps)
}

type UsedThing = { namespace: string; caller: Caller; explain: (user: string) => string }

/** Forbidden when the caller may not act inside one of the tasks that use it. A Secret is asked for once. */
async function requireActingInUsers(
  { caller, namespace, explain }: UsedThing,
  users: AsyncIterable<Task>,
  deps: UsecaseDeps,
): Promise<void> {
  const asked = new Set<string>()
  for await (const task of users) {
    if (keyOfRequester(task) === callerKey(identifyCaller(caller))) continue
    const { namespace: owner, name } = task.metadata
    const user = owner === namespace ? `task "${name}"` : 'a task of another namespace'
    const all = listSecretsInside(task, await findAgent(task, deps))
    const secrets = all.filter((secret) => !asked.has(`${secret.namespace}/${secret.name}`))
    await requireActing({ ...caller, isModel: false }, { owner, facts: { secrets } }, explain(user), deps)
    for (const secret of secrets) asked.add(`${secret.namespace}/${secret.name}`)
  }
}

/**
 * Forbidden when a task of the same session, of any phase, is one that the caller may not act inside: what one says there
 * is told to the next. `uid` is absent for a new task.
 */
export async function requireActingInSession(
  caller: Caller,
  { metadata: { namespace, uid }, spec }: { metadata: { namespace: string; uid?: string }; spec: Task['spec'] },
  deps: UsecaseDeps,
): Promise<void> {
  const session = spec.sessionRef?.name
  if (session === undefined) return
  const fields = { session }
  async function* listOthers() {
    for await (const task of listEach(deps.ports.resources, 'Task', { namespace, fields }))
      if (task.metadata.uid !== uid) yield task
  }
  const explain = (user: string) =>
    `session "${session}" is also that of ${user}, which is somebody else's, and a Secret is given to it; use another session`
  await requireActingInUsers({ caller, namespace, explain }, listOthers(), deps)
}

function explainPart(noun: string, name: string): (user: string) => string {
  return (user) =>
    `${noun} "${name}" is used by ${user}, which is somebody else's and has not ended, and a Secret is given to it; wait until it ends, or make another ${noun}`
}

/**
 * Forbidden when an unfinished task uses the agent and the caller may not act inside it. Also for a new agent: a task
 * takes the one that has the name. Removing one gives a task nothing.
 */
export async function admitAgent(request: AdmissionRequest<'Agent'>, deps: UsecaseDeps): Promise<Admitted> {
  const { name, spec, before } = request
  if (isUseChanged('Agent', before, spec))
    await requireActingInUsers(
      { ...request, explain: explainPart('agent', name) },
      listUsersOfAgent(request, deps),
      deps,
    )
  return {}
}

/** Forbidden when an unfinished task, or the agent of one, names the skill: as for agents. */
export async function admitSkill(request: AdmissionRequest<'Skill'>, deps: UsecaseDeps): Promise<Admitted> {
  const { name, spec, before } = request
  if (isUseChanged('Skill', before, spec))
    await requireActingInUsers(
      { ...request, explain: explainPart('skill', name) },
      listUsersOfSkill(request, deps),
      deps,
    )
  return {}
}
