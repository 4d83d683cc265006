// Why a task waits, shown in its status: it is held, or waits for references, a session, a slot, or its workload.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { type Task, waitingCondition } from '../../contract/kinds/tasks/task.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { redactText } from '../../observability/redaction.ts'
import { dropConditions, findCondition, formatSeconds, setCondition } from '../../rules/resources/conditions.ts'
import { rankTask } from '../../rules/tasks/attention.ts'
import type { BlockedReason } from '../../rules/tasks/decision.ts'
import { isParked, isResumed } from '../../rules/tasks/parking.ts'
import type { Reconciled } from '../engine/controller.ts'
import { findSiblingLimit } from './children.ts'
import { attemptOf, isolateTask, lookWhenTimeIsUp, type ReconcileContext, siblingsOf, taskKeyOf } from './context.ts'
import { finishTask } from './finish.ts'
import type { WaitingTask } from './scheduler.ts'
import { sessionOf, unlockSession } from './session-lock.ts'
import { missingReferences, sessionTopic } from './state.ts'

const sessionPollMs = 5_000
const referencePollMs = 5_000

type Wait = { queuedReason: string; message: string; conditions?: NonNullable<Task['status']>['conditions'] }

/** Records why a task has not started yet; does nothing when the reason is unchanged. */
async function noteWaiting(context: ReconcileContext, task: Task, wait: Wait): Promise<Task> {
  const { status, metadata } = task
  const { queuedReason, message } = wait
  const isUnchanged = status?.phase === 'Pending' && status.queuedReason === queuedReason
  if (isUnchanged && status.observedGeneration === metadata.generation) return task
  const conditions = dropConditions(status?.conditions, 'Suspended')
  const change = { phase: 'Pending' as const, nextScheduleTime: undefined, conditions, ...wait }
  if (isUnchanged) return await context.recorder.write(task, change)
  const event = { type: 'Queued', phase: 'Pending' as const, reason: queuedReason, message }
  return await context.recorder.move(task, event, change)
}

/** Gives up its capacity and its waits: it starts over once somebody lets it. */
export async function holdTask(
  context: ReconcileContext,
  task: Task,
  { reason, message }: BlockedReason,
): Promise<Reconciled> {
  const key = taskKeyOf(task)
  context.state.waiters.leave(key)
  const condition = { type: reason, status: 'True' as const, reason, message }
  const left = dropConditions(task.status?.conditions, 'WaitingForReferences')
  const conditions = setCondition(left, condition, context.clock.now())
  await noteWaiting(context, task, { queuedReason: reason, message, conditions })
  context.state.scheduler.release(key)
  return await lookWhenTimeIsUp(context, task)
}

/** Waits for a missing reference, and fails the task when it does not appear (TASK-035). */
export async function waitForReferences(context: ReconcileContext, task: Task, message: string): Promise<Reconciled> {
  const { clock, settings, state } = context
  const now = clock.now()
  context.state.scheduler.release(taskKeyOf(task))
  const before = findCondition(task.status?.conditions, 'WaitingForReferences')
  // As the condition will have it: another spelling would begin the wait anew.
  const since = before?.lastTransitionTime ?? formatSeconds(now)
  const waited = state.stopwatches.momentOf(`${task.metadata.uid} references`, since).getTime() - Date.parse(since)
  const remainingMs = settings.referenceWaitMs - waited
  if (remainingMs <= 0) {
    const why = `${message} (waited ${formatDuration(settings.referenceWaitMs)})`
    return await finishTask(context, task, { phase: 'Failed', reason: 'MissingReference', message: why })
  }
  if (before?.message !== message) {
    const condition = { type: 'WaitingForReferences', status: 'True' as const, reason: 'NotFound', message }
    const conditions = setCondition(dropConditions(task.status?.conditions, 'Suspended'), condition, now)
    const event = { type: 'Queued', phase: 'Pending' as const, reason: 'WaitingForReferences', message }
    const change = { phase: 'Pending' as const, queuedReason: 'WaitingForReferences', message, conditions }
    await context.recorder.move(task, event, change)
  }
  await unlockSession(context, task)
  state.waiters.wait(missingReferences, taskKeyOf(task), rankTask(task))
  return { requeueAfterMs: Math.min(remainingMs, referencePollMs) }
}

const queueMessages = {
  Capacity: 'waiting for a free worker; it starts by priority, then age, and namespaces take turns',
  NamespaceLimit: 'waiting: the namespace already runs as many tasks as it may',
  SiblingLimit: 'waiting: the coordinator already runs as many children as it may',
} as const

async function describeWaiting(context: ReconcileContext, task: Task, agent: Agent | undefined): Promise<WaitingTask> {
  const siblings = siblingsOf(task)
  return {
    key: taskKeyOf(task),
    uid: task.metadata.uid,
    namespace: task.metadata.namespace,
    rank: rankTask(task),
    generation: task.metadata.generation,
    mode: isolateTask(context.settings, task, agent)?.mode ?? 'own',
    siblings,
    siblingLimit: siblings === undefined ? undefined : await findSiblingLimit(context.resources, task),
  }
}

/** Requests capacity; true when the task may start now. */
export async function tryReserveSlot(
  context: ReconcileContext,
  task: Task,
  agent: Agent | undefined,
): Promise<boolean> {
  const waiting = await describeWaiting(context, task, agent)
  if (context.state.scheduler.offer(waiting)) return true
  // A parked task is Running; what it waits for now is no news.
  if (isParked(task)) return false
  const reason = context.state.scheduler.blockedBy(waiting)
  const stored = task.status?.queuedReason
  // The limit that holds a task back may change often; only the first is reported.
  if (stored === undefined || !(stored in queueMessages)) {
    await noteWaiting(context, task, { queuedReason: reason, message: queueMessages[reason] })
  }
  // It may have been granted during that write; then the key is in the queue again.
  return false
}

export async function waitForSession(context: ReconcileContext, task: Task): Promise<Reconciled> {
  const session = sessionOf(task)
  context.state.scheduler.release(taskKeyOf(task))
  if (session !== undefined) context.state.waiters.wait(sessionTopic(session), taskKeyOf(task), rankTask(task))
  const message = `waiting for session "${session?.name}", which another task holds`
  await noteWaiting(context, task, { queuedReason: 'SessionLocked', message })
  return { requeueAfterMs: sessionPollMs }
}

/** Nobody may change what it uses in other namespaces without the right to its Secrets, which is noted before it starts. */
export async function waitForNote(context: ReconcileContext, task: Task, obstacle: string): Promise<Reconciled> {
  context.state.scheduler.release(taskKeyOf(task))
  const advice =
    'install the chart of this version again, or have the task, what it uses and its Secrets in one namespace'
  const message = `waiting: it has Secrets and uses objects of other namespaces, which must be noted first, so that nobody changes these without the right to the Secrets: ${obstacle}; ${advice}`
  if (!isParked(task)) await noteWaiting(context, task, { queuedReason: 'UsesNotNoted', message })
  return { requeueAfterMs: referencePollMs }
}

/** Of a task none of whose attempts has run: its budget of time has not begun. */
function notBegun(task: Task): { firstStartTime?: undefined } {
  const { startTime, firstStartTime } = task.status ?? {}
  return startTime === firstStartTime && !isResumed(task) ? { firstStartTime: undefined } : {}
}

/** Reports what the attempt waits for (TASK-041): the task is Pending meanwhile. A cause that only changes its words is no event. */
export async function noteBlocked(
  context: ReconcileContext,
  task: Task,
  { reason, message }: BlockedReason,
): Promise<Task> {
  const shown = redactText(message)
  const before = findCondition(task.status?.conditions, waitingCondition)
  if (before?.message === shown) return task
  const condition = { type: waitingCondition, status: 'True' as const, reason, message: shown }
  const conditions = setCondition(task.status?.conditions, condition, context.clock.now())
  const change = { phase: 'Pending' as const, queuedReason: reason, message: shown, conditions, ...notBegun(task) }
  if (before?.reason === reason) return await context.recorder.write(task, change)
  return await context.recorder.move(task, { type: 'Queued', phase: 'Pending', reason, message: shown }, change)
}

/** A delayed attempt is running now: its time limit, and the budget of a first one, count from here. */
export async function noteBegun(context: ReconcileContext, task: Task, startedAt: Date): Promise<Task> {
  if (findCondition(task.status?.conditions, waitingCondition) === undefined) return task
  const message = `attempt ${attemptOf(task).attempt} runs`
  return await context.recorder.move(
    task,
    { type: 'PhaseChanged', phase: 'Running', message },
    {
      phase: 'Running',
      queuedReason: undefined,
      message,
      ...(!isResumed(task) && { startTime: startedAt.toISOString() }),
      firstStartTime: task.status?.firstStartTime ?? startedAt.toISOString(),
      conditions: dropConditions(task.status?.conditions, waitingCondition),
    },
  )
}
