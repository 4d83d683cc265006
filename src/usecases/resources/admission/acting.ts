// Whoever acts inside somebody's task gets at what it was given: every door to a task or its workspace asks here.
import { type Task, taskPhases, terminalPhases } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
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

/** Forbidden unless the task is the caller's own, or the caller has the right to every Secret of it and its agent. */
export async function requireActingInTask(caller: Caller, task: Task, deps: UsecaseDeps): Promise<void> {
  const { namespace: owner, name } = task.metadata
  const key = agentKeyOf(task)
  const secrets = listSecretsInside(task, key && (await deps.ports.resources.get('Agent', key)))
  // A model may leave in place what a person named.
  const by = { ...caller, isModel: false }
  const whose = `task "${name}" is one of somebody else's tasks, and a Secret is given to it`
  await requireActing(by, { owner, facts: { requester: keyOfRequester(task), secrets } }, whose, deps)
}

const unfinishedPhases = taskPhases.filter((phase) => !terminalPhases.some((terminal) => terminal === phase))

async function listUnfinishedTasks({ namespace, name }: ResourceKey, { ports }: UsecaseDeps): Promise<Task[]> {
  const { items } = await ports.resources.list('Task', { fields: { agent: name, phase: unfinishedPhases } })
  return items.filter((task) => agentKeyOf(task)?.namespace === namespace)
}

/**
 * Forbidden when an unfinished task uses the agent and the caller may not act inside it. Also for a new agent: a task
 * takes the one that has the name. Removing one gives a task nothing.
 */
export async function admitAgent(request: AdmissionRequest<'Agent'>, deps: UsecaseDeps): Promise<Admitted> {
  const { caller, namespace, name, spec, before } = request
  if (!isUseChanged('Agent', before, spec)) return {}
  const isOwn = (task: Task) => keyOfRequester(task) === callerKey(identifyCaller(caller))
  const theirs = (await listUnfinishedTasks({ namespace, name }, deps)).filter((task) => !isOwn(task))
  const inside = theirs.flatMap((task) => listSecretsInside(task, before).map((secret) => ({ task, secret })))
  // A Secret is asked for once, however many tasks have it.
  const bySecret = new Map(inside.map((each) => [`${each.secret.namespace}/${each.secret.name}`, each]))
  for (const { task, secret } of bySecret.values()) {
    const { namespace: owner } = task.metadata
    const user = owner === namespace ? `task "${task.metadata.name}"` : 'a task of another namespace'
    const whose = `agent "${name}" is used by ${user}, which is somebody else's and has not ended, and a Secret is given to it; wait until it ends, or make another agent`
    await requireActing({ ...caller, isModel: false }, { owner, facts: { secrets: [secret] } }, whose, deps)
  }
  return {}
}
