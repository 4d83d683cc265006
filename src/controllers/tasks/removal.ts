// The end of a deleted task: stop it, remove its records, release the object. Missing parts are fine (TASK-064).
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { ignoring } from '../../errors.ts'
import { removeTaskTokens } from '../../lookup/child-task.ts'
import type { TaskNoun } from '../../ports/resources/retention.ts'
import { cleanupFinalizer } from '../../rules/tasks/schedule.ts'
import type { Reconciled } from '../engine/controller.ts'
import { type ReconcileContext, taskKeyOf } from './context.ts'
import { stopAttempt } from './finish.ts'
import { unlockSession } from './session-lock.ts'

async function removeRecords(context: ReconcileContext, task: Task): Promise<void> {
  const {
    results,
    artifacts,
    inputs,
    logs,
    plans,
    messages,
    checkpoints,
    parkings,
    approvals,
    events,
    steps,
    network,
    memories,
  } = context.records
  const stores: Record<TaskNoun, { removeTask(taskUid: string): Promise<void> } | undefined> = {
    results,
    artifacts,
    inputs,
    logs,
    checkpoints,
    parkings,
    approvals,
    plans,
    messages,
    events,
    steps,
    network,
    memories,
  }
  await Promise.all(Object.values(stores).map((store) => store?.removeTask(task.metadata.uid)))
  await removeTaskTokens(context, task)
}

async function dropFinalizer(context: ReconcileContext, task: Task): Promise<void> {
  const finalizers = task.metadata.finalizers?.filter((finalizer) => finalizer !== cleanupFinalizer) ?? []
  await ignoring(context.resources.update('Task', { ...task, metadata: { ...task.metadata, finalizers } }), 'NotFound')
}

export async function removeTask(context: ReconcileContext, task: Task): Promise<Reconciled> {
  if (!task.metadata.finalizers?.includes(cleanupFinalizer)) return undefined
  await stopAttempt(context, task)
  await unlockSession(context, task)
  await removeRecords(context, task)
  await dropFinalizer(context, task)
  context.state.forget(taskKeyOf(task))
  return undefined
}

/** Keeps the object until its records are removed. The use case that creates tasks sets this too. */
export async function ensureFinalizer(context: ReconcileContext, task: Task): Promise<Task> {
  const { finalizers = [], deletionTimestamp } = task.metadata
  if (deletionTimestamp !== undefined || finalizers.includes(cleanupFinalizer)) return task
  const metadata = { ...task.metadata, finalizers: [...finalizers, cleanupFinalizer] }
  return await context.resources.update('Task', { ...task, metadata })
}
