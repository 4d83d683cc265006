// From Pending to Running: references, capacity, the session, the workload.

import type { ResolvedWorkspace } from '../../contract/api/workspaces/execution-workspace.ts'
import type { Task, TaskStatus } from '../../contract/kinds/tasks/task.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { isSvcError, messageOf, type SvcError } from '../../errors.ts'
import { spenderOf } from '../../rules/budgets/budget.ts'
import { dropConditions, findCondition, setCondition } from '../../rules/resources/conditions.ts'
import { isParked, parkedCondition } from '../../rules/tasks/parking.ts'
import { rankTask } from '../../rules/tasks/start-order.ts'
import { type HeldUp, waitingCondition, watchDelayMs } from '../../rules/tasks/task-decision.ts'
import { showWorkspace } from '../../rules/workspaces/execution-workspace.ts'
import type { Reconciled } from '../engine/controller.ts'
import { buildWorkload } from './assignment.ts'
import { findSiblingLimit } from './children.ts'
import { keyOf, lookWhenTimeIsUp, siblingsOf, type TaskContext } from './context.ts'
import { failAttempt, finishTask } from './finish.ts'
import { recallMemories } from './memories.ts'
import { type NewAttempt, type References, resolveReferences } from './references.ts'
import { lockSession, sessionOf, unlockSession } from './session-lock.ts'
import type { WaitingTask } from './start-queue.ts'
import type { StatusChange } from './status-recorder.ts'
import { missingReferences, sessionTopic } from './waiters.ts'

const sessionPollMs = 5_000
const referencePollMs = 5_000
const refusalPauseMs = 1_000

type Wait = { queuedReason: string; message: string; conditions?: NonNullable<Task['status']>['conditions'] }

/** Records why a task has not started yet; does nothing when the reason is unchanged. */
async function noteWaiting(context: TaskContext, task: Task, wait: Wait): Promise<Task> {
  const { status, metadata } = task
  const { queuedReason, message } = wait
  const isSaid = status?.phase === 'Pending' && status.queuedReason === queuedReason
  if (isSaid && status.observedGeneration === metadata.generation) return task
  const conditions = dropConditions(status?.conditions, 'Suspended')
  const change = { phase: 'Pending' as const, nextScheduleTime: undefined, conditions, ...wait }
  if (isSaid) return await context.recorder.write(task, change)
  const event = { type: 'Queued', phase: 'Pending' as const, reason: queuedReason, message }
  return await context.recorder.move(task, event, change)
}

/** Gives up its capacity and its waits: it starts over once somebody lets it. */
export async function holdTask(context: TaskContext, task: Task, { reason, message }: HeldUp): Promise<Reconciled> {
  const key = keyOf(task)
  context.memory.waiters.leave(key)
  const condition = { type: reason, status: 'True' as const, reason, message }
  const left = dropConditions(task.status?.conditions, 'WaitingForReferences')
  const conditions = setCondition(left, condition, context.clock.now())
  await noteWaiting(context, task, { queuedReason: reason, message, conditions })
  context.memory.scheduler.release(key)
  return await lookWhenTimeIsUp(context, task)
}

/** Waits for a missing reference, and fails the task when it does not appear (TASK-035). */
async function waitForReferences(context: TaskContext, task: Task, message: string): Promise<Reconciled> {
  const { clock, settings, memory } = context
  const now = clock.now()
  context.memory.scheduler.release(keyOf(task))
  const before = findCondition(task.status?.conditions, 'WaitingForReferences')
  const since = before === undefined ? now.getTime() : Date.parse(before.lastTransitionTime)
  const remainingMs = since + settings.referenceWaitMs - now.getTime()
  if (remainingMs <= 0) {
    const waited = `${message} (waited ${formatDuration(settings.referenceWaitMs)})`
    return await finishTask(context, task, { phase: 'Failed', reason: 'MissingReference', message: waited })
  }
  if (before?.message !== message) {
    const condition = { type: 'WaitingForReferences', status: 'True' as const, reason: 'NotFound', message }
    const conditions = setCondition(dropConditions(task.status?.conditions, 'Suspended'), condition, now)
    const event = { type: 'Queued', phase: 'Pending' as const, reason: 'WaitingForReferences', message }
    const change = { phase: 'Pending' as const, queuedReason: 'WaitingForReferences', message, conditions }
    await context.recorder.move(task, event, change)
  }
  await unlockSession(context, task)
  memory.waiters.wait(missingReferences, keyOf(task), rankTask(task))
  return { requeueAfterMs: Math.min(remainingMs, referencePollMs) }
}

const queueMessages = {
  Capacity: 'waiting for a free worker; it starts in order of priority, then age',
  NamespaceLimit: 'waiting: the namespace already runs as many tasks as it may',
  SiblingLimit: 'waiting: the coordinator already runs as many children as it may',
} as const

async function describeWaiting(context: TaskContext, task: Task): Promise<WaitingTask> {
  const siblings = siblingsOf(task)
  return {
    key: keyOf(task),
    uid: task.metadata.uid,
    namespace: task.metadata.namespace,
    rank: rankTask(task),
    generation: task.metadata.generation,
    siblings,
    siblingLimit: siblings === undefined ? undefined : await findSiblingLimit(context.resources, task),
  }
}

/** Requests capacity; true when the task may start now. */
async function seekPlace(context: TaskContext, task: Task): Promise<boolean> {
  const waiting = await describeWaiting(context, task)
  if (context.memory.scheduler.offer(waiting)) return true
  // A parked task is Running; what it waits for now is no news.
  if (isParked(task)) return false
  const reason = context.memory.scheduler.blockedBy(waiting)
  const said = task.status?.queuedReason
  // The limit that holds a task back may change often; only the first is reported.
  if (said === undefined || !(said in queueMessages)) {
    await noteWaiting(context, task, { queuedReason: reason, message: queueMessages[reason] })
  }
  // It may have been granted during that write; then the key is in the queue again.
  return false
}

async function waitForSession(context: TaskContext, task: Task): Promise<Reconciled> {
  const session = sessionOf(task)
  context.memory.scheduler.release(keyOf(task))
  if (session !== undefined) context.memory.waiters.wait(sessionTopic(session), keyOf(task), rankTask(task))
  const message = `waiting for session "${session?.name}", which another task holds`
  await noteWaiting(context, task, { queuedReason: 'SessionLocked', message })
  return { requeueAfterMs: sessionPollMs }
}

type Conditions = TaskStatus['conditions']

/** Parked becomes False where the task goes on, and vanishes where it starts over. */
function settleParked(task: Task, message: string, now: Date): Conditions {
  const { conditions } = task.status ?? {}
  if (!isParked(task)) return dropConditions(conditions, parkedCondition)
  return setCondition(conditions, { type: parkedCondition, status: 'False', reason: 'Resumed', message }, now)
}

type Begun = Pick<NewAttempt, 'attempt' | 'memories'> & { workspace: ResolvedWorkspace | undefined }

function nameMemories(memories: Begun['memories']): TaskStatus['memories'] {
  return memories.length > 0 ? memories.map(({ id, why }) => ({ id, why })) : undefined
}

function makeRunningStatus(task: Task, { attempt, memories, workspace }: Begun, now: Date): StatusChange {
  const message = `attempt ${attempt} was started`
  const parked = settleParked(task, message, now)
  const conditions = dropConditions(parked, 'WaitingForReferences', 'Suspended', waitingCondition)
  const created = { type: 'JobCreated', status: 'True' as const, reason: 'JobCreated', message }
  return {
    phase: 'Running',
    attempts: attempt,
    startTime: beginOf(task, now).toISOString(),
    firstStartTime: task.status?.firstStartTime ?? now.toISOString(),
    message,
    memories: isParked(task) ? task.status?.memories : nameMemories(memories),
    conditions: setCondition(conditions, created, now),
    queuedReason: undefined,
    nextRetryTime: undefined,
    completionTime: undefined,
    nextScheduleTime: undefined,
    ...(workspace && { executionWorkspace: showWorkspace(workspace) }),
    // An attempt of several workers has its own count by now.
    ...(task.spec.type !== 'container' && { iteration: task.status?.iteration ?? 0 }),
  }
}

/** The time of a task that goes on does not start anew. */
function beginOf(task: Task, now: Date): Date {
  const { startTime } = task.status ?? {}
  return isParked(task) && startTime !== undefined ? new Date(startTime) : now
}

async function noteAccepted(context: TaskContext, task: Task): Promise<void> {
  if (task.status?.phase !== undefined) return
  await context.recorder.append(task, { type: 'PhaseChanged', phase: 'Pending', message: 'the task was accepted' })
}

/** Announces the attempt, then starts it, so that the attempt is live from the worker's first call on. */
async function launch(context: TaskContext, task: Task, references: References): Promise<Reconciled> {
  const { memory, clock, recorder, workloads } = context
  const key = keyOf(task)
  const { uid, namespace } = task.metadata
  const attempt = (task.status?.attempts ?? 0) + 1
  const now = clock.now()
  // A conversation that goes on has what it began with.
  const memories = isParked(task) ? [] : await recallMemories(context, task)
  const build = buildWorkload(context, { task, attempt, startedAt: beginOf(task, now), references, memories })
  const [workload] = await Promise.all([build, noteAccepted(context, task)])
  memory.scheduler.setStarting(key, { namespace, siblings: siblingsOf(task), uid, attempt })
  const event = { type: 'PhaseChanged', phase: 'Running' as const, message: `attempt ${attempt} was started`, attempt }
  const running = await recorder.move(
    task,
    event,
    makeRunningStatus(task, { attempt, memories, workspace: workload.workspace }, now),
  )
  try {
    await workloads.ensure(workload)
  } catch (error) {
    return await handleRefusal(context, running, error)
  }
  memory.scheduler.setStarted(key)
  return { requeueAfterMs: watchDelayMs(running, { now: clock.now() }, { phase: 'Pending' }) }
}

/** The workload could not be started: no capacity after all, or a failure of the attempt. */
async function handleRefusal(context: TaskContext, task: Task, error: unknown): Promise<Reconciled> {
  const message = messageOf(error)
  context.log.warn({ task: keyOf(task), error: message }, 'an attempt could not be started')
  if (!isSvcError(error, 'Unavailable')) return await failAttempt(context, task, { reason: 'StartFailed', message })
  const event = { type: 'Queued', phase: 'Pending' as const, reason: 'Capacity', message }
  const attempts = (task.status?.attempts ?? 1) - 1
  const nextRetryTime = new Date(context.clock.now().getTime() + refusalPauseMs).toISOString()
  const change = { phase: 'Pending' as const, attempts, queuedReason: 'Capacity', message, nextRetryTime }
  await context.recorder.move(task, event, change)
  context.memory.scheduler.release(keyOf(task))
  return { requeueAfterMs: refusalPauseMs }
}

async function startGranted(context: TaskContext, task: Task, references: References): Promise<Reconciled> {
  // A parked task still holds its session.
  if (!isParked(task) && !(await lockSession(context, task))) return await waitForSession(context, task)
  return await launch(context, task, references)
}

/** BudgetExceeded. */
async function requireSpendable({ spending, taskBudgets }: TaskContext, task: Task): Promise<void> {
  await spending?.require(spenderOf(task))
  await taskBudgets?.require(task)
}

/** What an error means for a task that could not start; undefined: nothing that is known. */
async function handleProblem(context: TaskContext, task: Task, error: SvcError): Promise<Reconciled | 'unknown'> {
  const { message } = error
  switch (error.reason) {
    case 'NotFound':
      if (task.status?.phase !== 'Running') return await waitForReferences(context, task, message)
      if (!isParked(task)) return 'unknown'
      return await finishTask(context, task, { phase: 'Failed', reason: 'MissingReference', message })
    case 'InvalidRequest':
      return await finishTask(context, task, { phase: 'Failed', reason: 'Validation', message })
    case 'BudgetExceeded':
      return await finishTask(context, task, { phase: 'Failed', reason: 'BudgetExceeded', message })
    default:
      return 'unknown'
  }
}

/** Starts the task if it may start; otherwise records why not and when to look again. */
export async function startTask(context: TaskContext, task: Task): Promise<Reconciled> {
  context.memory.waiters.leave(keyOf(task))
  try {
    const references = await resolveReferences(context, task)
    if (task.spec.type !== 'container') await requireSpendable(context, task)
    if (!(await seekPlace(context, task))) return undefined
    return await startGranted(context, task, references)
  } catch (error) {
    const handled = isSvcError(error) ? await handleProblem(context, task, error) : 'unknown'
    if (handled !== 'unknown') return handled
    context.memory.scheduler.release(keyOf(task))
    throw error
  }
}
