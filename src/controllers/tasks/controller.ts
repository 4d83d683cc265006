// The Task controller: reads a task by name, decides purely, carries out the one decision, says when to look again.
import { structuredResultType } from '../../contract/api/tasks/structured-result.ts'
import { hasAttempt, hasStarted, isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import type { ResultInfo } from '../../ports/tasks/outputs.ts'
import type { WorkloadState } from '../../ports/tasks/workloads.ts'
import { callbackDue } from '../../rules/tasks/callback.ts'
import { decideTask, type TaskDecision } from '../../rules/tasks/decision.ts'
import { timeToRemoval } from '../../rules/tasks/expiry.ts'
import { isParked, type ParkView } from '../../rules/tasks/parking.ts'
import { gitWorkspaceOf } from '../../rules/workspaces/git-workspace.ts'
import { type Controller, createPushSource, defineController, parseKey, type Reconciled } from '../engine/controller.ts'
import { createApprovalCallbackController, createCallbackController } from './callbacks.ts'
import { updateChildTasks } from './children.ts'
import {
  attemptOf,
  maxRequeueMs,
  type ReconcileContext,
  readBounds,
  siblingsOf,
  type TaskControllerDeps,
  taskKeyOf,
} from './context.ts'
import { keepEndMark, recallEnd } from './ended.ts'
import { removeEnded } from './expiry.ts'
import { createTaskSources } from './feed.ts'
import { closeInterrupted, failTask, finishTask, saveOutput, scheduleRetry, stopAttempt } from './finish.ts'
import { endAttempt } from './iteration.ts'
import { createProbeController, keepParked, observeParking, parkAttempt } from './parking.ts'
import { ensureFinalizer, removeTask } from './removal.ts'
import { momentOfWait } from './retry-time.ts'
import { reconcileSchedule } from './schedule.ts'
import { createScheduler } from './scheduler.ts'
import { startTask } from './start.ts'
import { createTaskState } from './state.ts'
import { createStatusRecorder } from './status-recorder.ts'
import { createUseNotes } from './uses-elsewhere.ts'
import { holdTask, noteBegun, noteBlocked } from './waiting.ts'

type Seen = { attempt?: WorkloadState; hasResult: boolean; parking?: ParkView | undefined }

const nothingSeen: Seen = { hasResult: false }

/** What a task in a git repository says is no result yet: its changes belong to it. */
function isComplete(task: Task, { contentType }: ResultInfo): boolean {
  return gitWorkspaceOf(task.spec) === undefined || contentType === structuredResultType
}

async function observe(context: ReconcileContext, task: Task): Promise<Seen> {
  if (!hasAttempt(task.status)) return nothingSeen
  if (isParked(task)) return { hasResult: false, parking: await observeParking(context, task) }
  const key = attemptOf(task)
  const attempt = await context.workloads.observe(key)
  if (attempt.phase === 'Pending' || attempt.phase === 'Running') return { attempt, hasResult: false }
  const [result, parking] = await Promise.all([
    context.records.results.get(key.taskUid, key.attempt),
    task.spec.type === 'container' ? undefined : observeParking(context, task),
  ])
  return { attempt, hasResult: result !== undefined && isComplete(task, result.info), parking }
}

/** An ended task: only finishes what its end left undone. */
async function settleEnded(context: ReconcileContext, ended: Task): Promise<Reconciled> {
  const key = taskKeyOf(ended)
  const marked = await keepEndMark(context, ended)
  if (context.state.scheduler.known(key, marked.metadata.uid).liveAttempt !== undefined)
    await stopAttempt(context, marked)
  context.state.scheduler.releaseObject(key, marked.metadata.uid)
  context.state.probed.delete(key)
  context.state.notices.delete(key)
  const task = await updateChildTasks(context, marked)
  if (callbackDue(task)) context.callbackDue(key)
  const leftMs = timeToRemoval(task, context.clock.now())
  if (leftMs === undefined) return undefined
  if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, maxRequeueMs) }
  await removeEnded(context.resources, task)
  return undefined
}

type WatchDecision = Extract<TaskDecision, { action: 'watch' }>

async function noteProgress(
  context: ReconcileContext,
  task: Task,
  { blocked }: WatchDecision,
  seen: Seen,
): Promise<Task> {
  if (blocked !== undefined) return await noteBlocked(context, task, blocked)
  if (seen.attempt?.phase === 'Running') return await noteBegun(context, task, seen.attempt.startedAt)
  return task
}

async function watchTask(
  context: ReconcileContext,
  task: Task,
  decision: WatchDecision,
  seen: Seen,
): Promise<Reconciled> {
  const { uid, namespace } = task.metadata
  context.state.scheduler.adopt(taskKeyOf(task), {
    namespace,
    siblings: siblingsOf(task),
    uid,
    attempt: attemptOf(task).attempt,
    isBlocked: decision.blocked?.reason === 'WaitingForQuota',
  })
  await updateChildTasks(context, await noteProgress(context, task, decision, seen))
  return { requeueAfterMs: decision.lookAgainMs }
}

async function act(context: ReconcileContext, task: Task, decision: TaskDecision, seen: Seen): Promise<Reconciled> {
  switch (decision.action) {
    case 'none':
      return await settleEnded(context, task)
    case 'delete':
      return await removeTask(context, task)
    case 'recall':
      return await recallEnd(context, task, decision.end)
    case 'schedule':
      return await reconcileSchedule(context, task)
    case 'suspend':
      return await holdTask(context, task, decision)
    case 'start':
      return await startTask(context, task)
    case 'wait':
      return { requeueAfterMs: decision.lookAgainMs }
    case 'watch':
      return await watchTask(context, task, decision, seen)
    case 'park':
      return await parkAttempt(context, task, decision)
    case 'rest':
      return await keepParked(context, task, decision)
    case 'resume':
      return await startTask(context, task)
    case 'retry':
      return await scheduleRetry(context, task, decision)
    case 'interrupt':
      return await closeInterrupted(context, task, decision)
    case 'succeed':
      if (seen.attempt !== undefined && !seen.hasResult) await saveOutput(context, task, seen.attempt)
      return await endAttempt(context, task, decision.message)
    case 'fail':
      return await failTask(context, task, decision)
    case 'cancel':
      return await finishTask(context, task, { phase: 'Cancelled', message: decision.message })
  }
}

/** What runs or waits for its next attempt has a time that no jump of the clock changes; all else is decided by stamps. */
function momentOf(context: ReconcileContext, task: Task): Date {
  const { clock, state } = context
  const { phase, startTime, nextRetryTime } = task.status ?? {}
  if (phase === 'Running' && startTime !== undefined) return state.stopwatches.momentOf(task.metadata.uid, startTime)
  return nextRetryTime === undefined ? clock.now() : momentOfWait(context, task, nextRetryTime)
}

async function reconcileTask(context: ReconcileContext, key: string): Promise<Reconciled> {
  const stored = await context.resources.get('Task', parseKey(key))
  if (stored === undefined) {
    context.state.forget(key)
    return undefined
  }
  const task = isTerminalPhase(stored.status?.phase) ? stored : await ensureFinalizer(context, stored)
  const seen = await observe(context, task)
  const isUnderWay = hasStarted(task.status) && !isTerminalPhase(task.status?.phase)
  const bounds = isUnderWay ? await readBounds(context, task) : []
  const now = momentOf(context, task)
  const decision = decideTask({ task, ...seen }, { now, random: context.ids.random(), bounds })
  return await act(context, task, decision, seen)
}

/** The task controller, and those that deliver completion callbacks and ask for what parked tasks wait for. */
export function createTaskControllers(deps: TaskControllerDeps): Controller[] {
  const scheduler = createScheduler({
    capacity: (mode) => deps.workloads.capacity(mode),
    limit: deps.settings.maxRunningTasks,
    namespaceLimit: deps.settings.maxTasksPerNamespace,
    onGrant: (key) => again.push(key),
  })
  const again = createPushSource('again')
  const callbacks = createPushSource('ended tasks')
  const probes = createPushSource('parked tasks')
  const questions = createPushSource('tasks that ask')
  const recorder = createStatusRecorder({
    resources: deps.resources,
    events: deps.records.events,
    leadership: deps.leadership,
    observer: deps.observer,
  })
  const { policyEntries } = deps
  const uses = policyEntries && createUseNotes({ ...deps, policyEntries })
  const context: ReconcileContext = {
    ...deps,
    ...(uses && { noteUses: uses.note }),
    recorder,
    state: createTaskState(scheduler, deps.clock),
    enqueue: again.push,
    callbackDue: callbacks.push,
    probe: probes.push,
    notifyApprovals: questions.push,
  }
  const tasks = defineController({
    name: 'tasks',
    sources: [again, ...createTaskSources(context)],
    concurrency: deps.settings.concurrency,
    begin: () => context.state.reset(),
    reconcile: (key) => reconcileTask(context, key),
  })
  // Before the task controller, so that they are listening when the first ended or parked task is found.
  return [
    createCallbackController({ ...deps, recorder }, callbacks),
    createApprovalCallbackController({ ...deps, recorder, notices: context.state.notices }, questions),
    createProbeController({ ...deps, probed: context.state.probed, enqueue: again.push }, probes),
    ...(uses ? [uses.controller] : []),
    tasks,
  ]
}
