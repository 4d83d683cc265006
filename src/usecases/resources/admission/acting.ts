// Whoever acts inside somebody's task gets at what it was given: every door to a task or its workspace asks here.
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { listEach } from '../../../lookup/listing.ts'
import type { SessionParticipant } from '../../../ports/chat/sessions.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey, ResourceQuery } from '../../../ports/resources/resources.ts'
import { callerKey, identifyCaller } from '../../../rules/identity/caller-identity.ts'
import { isOwner } from '../../../rules/identity/permission.ts'
import {
  agentKeyOf,
  fallbacksOf,
  isAmong,
  keyOfRequester,
  listNeededSecrets,
  listSecretsInside,
  type PartKind,
  partsOfTasks,
  unfinishedPhases,
} from '../../../rules/tasks/acting.ts'
import { mayAccess, requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireSecret } from './references.ts'
import { type Admitted, orUndo } from './request.ts'

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

/** Each agent is read once. */
function createAgentFinder({ ports }: UsecaseDeps): (task: Task) => Promise<Agent | undefined> {
  const agents = new Map<string, Agent | undefined>()
  return async (task) => {
    const key = agentKeyOf(task)
    if (key === undefined) return undefined
    const path = `${key.namespace}/${key.name}`
    if (!agents.has(path)) agents.set(path, await ports.resources.get('Agent', key))
    return agents.get(path)
  }
}

/** Whether whoever acts is the one who asked for the task. */
export const isOwn = (caller: Caller, task: Task) => keyOfRequester(task) === callerKey(identifyCaller(caller))

/**
 * Forbidden unless the task is the caller's own, or the caller has the right to every Secret of it and its agent; and as
 * for its session. Whose own task it is is asked for the session only where the task `starts` by it or joins one: what
 * others have come to say there is told to the task when it runs.
 */
export async function requireActingInTask(
  caller: Caller,
  task: Task,
  deps: UsecaseDeps,
  starts = false,
): Promise<void> {
  const { namespace: owner, name } = task.metadata
  const secrets = listSecretsInside(task, await createAgentFinder(deps)(task))
  // A model may leave in place what a person named.
  const by = { ...caller, isModel: false }
  const whose = `task "${name}" is one of somebody else's tasks, and a Secret is given to it`
  await requireActing(by, { owner, facts: { requester: keyOfRequester(task), secrets } }, whose, deps)
  const { namespace, uid } = task.metadata
  const session = task.spec.sessionRef?.name
  if (starts || !isOwn(caller, task)) await requireActingInSession(caller, { namespace, session, uid }, deps)
}

/** All phases in one list, as the pages of one list miss no task that goes from one to the other meanwhile. */
function listUnfinished(query: ResourceQuery, { ports }: UsecaseDeps): AsyncGenerator<Task> {
  return listEach(ports.resources, 'Task', { ...query, fields: { ...query.fields, phase: unfinishedPhases } })
}

type UsedThing = { namespace: string; caller: Caller; explain: (user: string) => string }

/** Whoever may get every Secret may act inside every task, and nothing is listed for them. */
async function readsEverySecret(caller: Caller, { ports, settings }: UsecaseDeps): Promise<boolean> {
  const isBounded = caller.boundNamespace !== undefined || (settings.ownerSecret !== undefined && !isOwner(caller))
  return !isBounded && (await mayAccess(ports, caller, { verb: 'get', kind: 'Secret', entry: true }))
}

/** Forbidden when the caller may not act inside one of the tasks that use it. A Secret is asked for once. */
async function requireActingInUsers(
  { caller, namespace, explain }: UsedThing,
  users: AsyncIterable<Task>,
  deps: UsecaseDeps,
): Promise<void> {
  const by = { ...caller, isModel: false }
  if (await readsEverySecret(by, deps)) return
  const asked = new Set<string>()
  const findAgent = createAgentFinder(deps)
  for await (const task of users) {
    if (isOwn(caller, task)) continue
    const { namespace: owner, name } = task.metadata
    const user = owner === namespace ? `task "${name}"` : 'a task of another namespace'
    const all = listSecretsInside(task, await findAgent(task))
    const secrets = all.filter((secret) => !asked.has(`${secret.namespace}/${secret.name}`))
    await requireActing(by, { owner, facts: { secrets } }, explain(user), deps)
    for (const secret of secrets) asked.add(`${secret.namespace}/${secret.name}`)
  }
}

/**
 * Forbidden when a task of the same session, of any phase, is one that the caller may not act inside: what one says there
 * is told to the next. `uid` is that of the task that acts; a new one has none, nor has a chat.
 */
export async function requireActingInSession(
  caller: Caller,
  { namespace, session, uid }: { namespace: string; session: string | undefined; uid?: string },
  deps: UsecaseDeps,
): Promise<void> {
  if (session === undefined) return
  const fields = { session }
  async function* listOthers() {
    for await (const task of listEach(deps.ports.resources, 'Task', { namespace, fields }))
      if (task.metadata.uid !== uid) yield task
  }
  const explain = (user: string) =>
    `session "${session}" is also that of ${user}, which is somebody else's, and a Secret is given to it; use another session`
  await requireActingInUsers({ caller, namespace, explain }, listOthers(), deps)
  const key = { namespace, name: session }
  const { others } = await deps.ports.records.sessions.join(key, { secrets: [] })
  await requireActingAmong(caller, { key, others }, deps)
}

/** Also of tasks that are no longer kept, and of those that join by another replica. */
async function requireActingAmong(
  caller: Caller,
  { key: { namespace: owner, name }, others }: { key: ResourceKey; others: readonly SessionParticipant[] },
  deps: UsecaseDeps,
): Promise<void> {
  const by = { ...caller, isModel: false }
  if (others.length === 0 || (await readsEverySecret(by, deps))) return
  const whose = `session "${name}" was given a Secret by somebody else; use another session`
  for (const facts of others) await requireActing(by, { owner, facts }, whose, deps)
}

/**
 * Notes which Secrets the task brings to its session. Forbidden, when it `isJudged`, if it was given others that the caller
 * has no right to. What is returned takes back what was noted.
 */
export async function joinSession(
  caller: Caller,
  { task, isJudged }: { task: Task; isJudged: boolean },
  deps: UsecaseDeps,
): Promise<Admitted['undo']> {
  const { sessions } = deps.ports.records
  if (task.spec.sessionRef === undefined) return undefined
  const secrets = listSecretsInside(task, await createAgentFinder(deps)(task))
  if (secrets.length === 0) return undefined
  const key = { namespace: task.metadata.namespace, name: task.spec.sessionRef.name }
  const participant = { requester: keyOfRequester(task), secrets }
  const { others, added } = await sessions.join(key, participant)
  const undo = added ? () => sessions.leave(key, participant) : undefined
  if (isJudged) await orUndo(undo, () => requireActingAmong(caller, { key, others }, deps))
  return undo
}

const nouns: Record<PartKind, string> = {
  Agent: 'agent',
  Skill: 'skill',
  Provider: 'provider',
  Tool: 'tool',
  ConfigMap: 'config map',
}

/** Itself, and for a provider those that fall back on it. */
async function listFronts(kind: PartKind, part: ResourceKey, deps: UsecaseDeps): Promise<ResourceKey[]> {
  const fronts = [part]
  if (kind !== 'Provider') return fronts
  for await (const provider of listEach(deps.ports.resources, kind, {}))
    if (isAmong(fallbacksOf(provider), part)) fronts.push(provider.metadata)
  return fronts
}

async function* listUsers(kind: PartKind, part: ResourceKey, deps: UsecaseDeps): AsyncGenerator<Task> {
  const fields = { ...(kind === 'Agent' && { agent: part.name }), ...(kind === 'Tool' && { type: 'ai' }) }
  const findAgent = createAgentFinder(deps)
  const fronts = await listFronts(kind, part, deps)
  for await (const task of listUnfinished({ fields }, deps)) {
    const parts = partsOfTasks[kind](task, await findAgent(task))
    if (fronts.some((front) => isAmong(parts, front))) yield task
  }
}

/**
 * Forbidden when an unfinished task is made of the object and the caller may not act inside it. Also for a new object: a
 * task takes the one that has the name. Removing one gives a task nothing.
 */
export async function requireActingInUsersOf(
  kind: PartKind,
  { caller, namespace, name }: ResourceKey & { caller: Caller },
  deps: UsecaseDeps,
): Promise<void> {
  const noun = nouns[kind]
  const explain = (user: string) =>
    `${noun} "${name}" is used by ${user}, which is somebody else's and has not ended, and a Secret is given to it; wait until it ends, or make another ${noun}`
  await requireActingInUsers({ caller, namespace, explain }, listUsers(kind, { namespace, name }, deps), deps)
}
