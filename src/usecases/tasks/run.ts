// Requests a run of a schedule now; the controller creates it like any other run.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { nameScheduledRun, runAnnotation, wantedRunOf } from '../../rules/tasks/schedule.ts'
import { requireAccess } from '../identity/access.ts'
import { requireActingInTask } from '../resources/admission/acting.ts'
import { notFound } from '../resources/listing.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'

function refuseUnfit({ metadata: { name }, spec, status }: Task): void {
  if (spec.schedule === undefined) throw new SvcError('InvalidRequest', `task "${name}" has no schedule: it runs once`)
  if (!isTerminalPhase(status?.phase)) return
  throw new SvcError('Conflict', `schedule "${name}" starts no more runs: it is ${status?.phase}`)
}

/** The run that will be created; when one is already requested and not created yet, returns that one. */
export async function requestRun(
  deps: UsecaseDeps,
  caller: Caller,
  key: ResourceKey,
): Promise<{ name: string; namespace: string }> {
  const { ports } = deps
  await requireAccess(ports, caller, { verb: 'update', kind: 'Task', ...key })
  return repeatOnConflict(async () => {
    const task = await ports.resources.get('Task', key)
    if (task === undefined) throw await notFound(ports, caller, 'Task', key)
    await requireActingInTask(caller, task, deps, true)
    refuseUnfit(task)
    const requested = wantedRunOf(task)
    const tick = requested ?? ports.clock.now()
    if (requested === undefined) {
      const annotations = { ...task.metadata.annotations, [runAnnotation]: tick.toISOString() }
      await ports.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
    }
    return { name: nameScheduledRun(key.name, tick), namespace: key.namespace }
  })
}
