// Requests the end of a task; the controller stops it and moves it to Cancelled (TASK-037).
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { cancelAnnotation, markCancelled } from '../../rules/tasks/decision.ts'
import { requireAccess } from '../identity/access.ts'
import { notFound } from '../resources/listing.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** Cancelled, or about to be. */
function isCancelled(task: Task): boolean {
  const phase = task.status?.phase
  const isRequested = task.metadata.annotations?.[cancelAnnotation] !== undefined
  return phase === 'Cancelled' || (isRequested && !isTerminalPhase(phase))
}

function refuseEnded(task: Task): SvcError {
  return new SvcError('Conflict', `task "${task.metadata.name}" has already ended: it is ${task.status?.phase}`)
}

/** The task, marked to be cancelled; repeating is harmless. Conflict when it has ended in another way; NotFound. */
export async function requestCancel(
  { ports }: UsecaseDeps,
  caller: Caller,
  key: ResourceKey,
  reason: string,
): Promise<Task> {
  await requireAccess(ports, caller, { verb: 'update', kind: 'Task', ...key })
  return repeatOnConflict(async () => {
    const task = await ports.resources.get('Task', key)
    if (task === undefined) throw await notFound(ports, caller, 'Task', key)
    if (isCancelled(task)) return task
    if (isTerminalPhase(task.status?.phase)) throw refuseEnded(task)
    return ports.resources.update('Task', markCancelled(task, reason))
  })
}

/** As the service itself, exactly this task: `namespace/name`, or undefined when it has ended meanwhile. */
export async function cancelByService(
  { resources }: Pick<Ports, 'resources'>,
  { metadata: { namespace, name, uid } }: Task,
  why: string,
): Promise<string | undefined> {
  return repeatOnConflict(async () => {
    const found = await resources.get('Task', { namespace, name })
    if (found?.metadata.uid !== uid || isTerminalPhase(found.status?.phase)) return undefined
    await resources.update('Task', markCancelled(found, why))
    return `${namespace}/${name}`
  }).catch((error: unknown) => {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  })
}
