// Whoever acts inside somebody's task gets at what it was given: every door to a task or its workspace asks here.
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import { identifyCaller } from '../../../rules/identity/caller-identity.ts'
import { keyOfRequester, listNeededSecrets, listSecretsInside } from '../../../rules/tasks/acting.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireSecret } from './references.ts'

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
  const { agentRef } = task.spec
  const key = agentRef && { namespace: agentRef.namespace ?? owner, name: agentRef.name }
  const secrets = listSecretsInside(task, key && (await deps.ports.resources.get('Agent', key)))
  // A model may leave in place what a person named.
  const by = { ...caller, isModel: false }
  const whose = `task "${name}" is one of somebody else's tasks, and a Secret is given to it`
  await requireActing(by, { owner, facts: { requester: keyOfRequester(task), secrets } }, whose, deps)
}
