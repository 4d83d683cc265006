// The end of a deleted task: stop it, remove its records, release the object. Missing parts are fine (TASK-064). Ended tasks are removed
// when their time is up.
import { type Task, terminalPhases } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { removeTaskTokens } from '../../lookup/child-task.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { TaskNoun } from '../../ports/resources/retention.ts'
import { timeToRemoval } from '../../rules/tasks/expiry.ts'
import { cleanupFinalizer } from '../../rules/tasks/schedule.ts'
import type { Reconciled } from '../engine/controller.ts'
import { type ReconcileContext, taskKeyOf } from './context.ts'
import { stopAttempt } from './finish.ts'
import { unlockSession } from './session-lock.ts'

/** Deletes exactly this task; false when somebody else has. */
export async function removeEnded(resources: Pick<Resources, 'remove'>, { metadata }: Task): Promise<boolean> {
  try {
    await resources.remove('Task', metadata, { uid: metadata.uid })
    return true
  } catch (error) {
    if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'Conflict')) throw error
    return false
  }
}

type SweepDeps = { resources: Pick<Resources, 'list' | 'remove'>; clock: Clock }

const pageSize = 200
/** Pause between two pages, so that a large store delays nobody. */
const pagePauseMs = 20

async function sweepPhase(
  { resources, clock }: SweepDeps,
  phase: string,
  options: { keptMs: number; signal: AbortSignal },
) {
  let removed = 0
  let next: string | undefined
  do {
    const page = await resources.list('Task', { fields: { phase }, limit: pageSize, continue: next })
    const due = page.items.filter((task) => timeToRemoval(task, clock.now(), options.keptMs) === 0)
    for (const task of due) if (await removeEnded(resources, task)) removed += 1
    next = page.continue
    if (next !== undefined) await clock.sleep(pagePauseMs, options.signal)
  } while (next !== undefined && !options.signal.aborted)
  return removed
}

/** Deletes the tasks that ended longer ago than the retention; returns how many. */
export async function sweepEndedTasks(deps: SweepDeps, keptMs: number, signal: AbortSignal): Promise<number> {
  let removed = 0
  for (const phase of terminalPhases) removed += await sweepPhase(deps, phase, { keptMs, signal })
  return removed
}

async function removeRecords(context: ReconcileContext, task: Task): Promise<void> {
  const { results, artifacts, inputs, logs, plans, messages, checkpoints, parkings, approvals, events, memories } =
    context.records
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
    memories,
  }
  await Promise.all(Object.values(stores).map((store) => store?.removeTask(task.metadata.uid)))
  await removeTaskTokens(context, task)
}

async function dropFinalizer(context: ReconcileContext, task: Task): Promise<void> {
  const finalizers = task.metadata.finalizers?.filter((finalizer) => finalizer !== cleanupFinalizer) ?? []
  try {
    await context.resources.update('Task', { ...task, metadata: { ...task.metadata, finalizers } })
  } catch (error) {
    if (!isSvcError(error, 'NotFound')) throw error
  }
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
