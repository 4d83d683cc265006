// The phase machine of tasks: from the stored task and the observed attempt to the one thing to do now.
import {
  type AdapterFailure,
  type FailureReason,
  failures,
  type RunFailure,
  type SharedLoss,
} from '../../contract/kinds/tasks/failures.ts'
import { hasAttempt, isTerminalPhase, type Task, waitingCondition } from '../../contract/kinds/tasks/task.ts'
import { formatDuration, tryParseDuration } from '../../contract/values/duration.ts'
import { explainTimeUsedUp, type TaskBound, timeLeftMs } from '../budgets/task-budget.ts'
import { findCondition } from '../resources/conditions.ts'
import { readEndMark, restoredAttemptAnnotation, type TaskEndMark } from './end-mark.ts'
import { countsOfIteration } from './iteration.ts'
import { isParked, isResumed, type ParkReason, type ParkView } from './parking.ts'
import { type AttemptFailure, countRuns, maxInterruptions, mayRetry, reasonOf, retryDelayMs } from './retry.ts'

/** The observed state of the live attempt (the same shape as in the workloads port). */
export type AttemptState =
  /** Not started yet. A `reason` means that something unusual holds it up, which `message` explains. */
  | { phase: 'Pending'; reason?: string; message?: string }
  | { phase: 'Running'; startedAt?: Date }
  | { phase: 'Succeeded' }
  /** `cause` is the reason that the worker itself gave, more specific than `reason`. */
  | { phase: 'Failed'; reason: AdapterFailure; cause?: RunFailure; message: string; loss?: SharedLoss }
  | { phase: 'Missing' }

type TaskView = {
  task: Task
  /** State of the live attempt; only read while there is one (`hasAttempt`). */
  attempt?: AttemptState | undefined
  /** Whether the live attempt's result is stored. */
  hasResult: boolean
  /** What the live attempt waits for since it ended, if it does. */
  parking?: ParkView | undefined
}

export type TaskDecision =
  /** The task has ended, and there is nothing to do. */
  | { action: 'none' }
  /** The task is being deleted: stop it, remove its records, release it. */
  | { action: 'delete' }
  /** Has come back without its status, and had ended: it gets that again. */
  | { action: 'recall'; end: TaskEndMark }
  /** Has a schedule: its ticks decide. */
  | { action: 'schedule' }
  /** Waits until somebody changes the task. */
  | { action: 'suspend'; reason: string; message: string }
  /** May start as soon as there is capacity. */
  | { action: 'start' }
  /** Must not start before `lookAgainMs` have passed. */
  | { action: 'wait'; reason: string; message: string; lookAgainMs: number }
  /** Runs, or is blocked before it can run; look again by then. */
  | { action: 'watch'; lookAgainMs: number; blocked?: BlockedReason }
  | { action: 'retry'; reason: FailureReason; message: string; delayMs: number }
  /** The attempt was lost through no fault of its own; another one follows at once (TASK-043). `loss`: not even counted. */
  | { action: 'interrupt'; message: string; loss?: SharedLoss }
  /** The attempt has ended because it waits: nothing of it is left, and its slot is free. */
  | { action: 'park'; reason: ParkReason; message: string }
  /**
   * Is parked; look again by then if nothing happens before. Absent: only an event ends the wait. `isProbed`: something
   * of it has to be asked for.
   */
  | { action: 'rest'; lookAgainMs?: number; isProbed?: boolean }
  /** What a parked task waits for has come: it goes on as soon as there is capacity. */
  | { action: 'resume' }
  | { action: 'succeed'; message: string }
  | { action: 'fail'; reason: FailureReason; cause?: RunFailure; message: string }
  | { action: 'cancel'; message: string }

/** Why a started attempt is not running yet. */
export type BlockedReason = { reason: string; message: string }

type DecisionInput = {
  now: Date
  /** In [0, 1): jitter for retry delays. */
  random: number
  /** What budgets of the service allow each task; absent: nothing is bounded. */
  bounds?: readonly TaskBound[]
}

/** When it is decided, and what bounds hold then. */
type Moment = Pick<DecisionInput, 'now' | 'bounds'>

/** How often to look at a running attempt that reports nothing. */
export const watchIntervalMs = 30_000

/** How often to look for an answer whose sign was lost, because the service stopped just after it. */
const approvalIntervalMs = 300_000

/** The presence of this annotation asks for the task to be cancelled; its value is the reason. */
export const cancelAnnotation = 'svc.ai/cancel-requested'

/** The task with the wish that it be cancelled. */
export function markCancelled(task: Task, reason: string): Task {
  const annotations = { ...task.metadata.annotations, [cancelAnnotation]: reason }
  return { ...task, metadata: { ...task.metadata, annotations } }
}

/** When the attempt's time starts: not before it runs (TASK-041). Undefined before that. */
function beginOf(task: Task, attempt: AttemptState | undefined): number | undefined {
  // The time of a task that goes on after it was parked does not start anew.
  if (isParked(task) || isResumed(task)) return readTime(task.status?.startTime)
  if (attempt?.phase === 'Running' && attempt.startedAt !== undefined) return attempt.startedAt.getTime()
  // This also holds when the attempt was lost while it waited.
  const hasWaited = findCondition(task.status?.conditions, waitingCondition) !== undefined
  if (attempt?.phase === 'Pending' || hasWaited) return undefined
  return readTime(task.status?.startTime)
}

function readTime(noted: string | undefined): number | undefined {
  return noted === undefined ? undefined : Date.parse(noted)
}

/** When the attempt times out, or undefined. */
function deadlineOf(task: Task, attempt: AttemptState | undefined): Date | undefined {
  const timeout = task.spec.timeout === undefined ? undefined : tryParseDuration(task.spec.timeout)
  const begin = beginOf(task, attempt)
  return timeout === undefined || begin === undefined ? undefined : new Date(begin + timeout)
}

function describeTimeout(task: Task): string {
  const timeout = formatDuration(tryParseDuration(task.spec.timeout ?? '') ?? 0)
  return `task timed out after ${timeout}; raise spec.timeout or make the work smaller`
}

/** Why the task is to be cancelled; undefined when nobody asked. */
export function describeCancel(task: Task): string | undefined {
  const reason = task.metadata.annotations?.[cancelAnnotation]
  if (reason === undefined) return undefined
  return reason.trim() === '' ? 'cancelled on request' : `cancelled: ${reason.trim()}`
}

type FailureDecision = Extract<TaskDecision, { action: 'retry' | 'fail' }>

/** What follows a failed attempt: another run, or the task's failure. */
export function decideFailedAttempt(task: Task, failure: AttemptFailure, random: number): FailureDecision {
  const reason = reasonOf(failure)
  if (reason === 'DeadlineExceeded' && task.spec.timeout !== undefined) {
    return { action: 'fail', reason: 'TimedOut', message: describeTimeout(task) }
  }
  const counts = countsOfIteration(task)
  const cause = failure.cause === undefined ? {} : { cause: failure.cause }
  if (!mayRetry(task.spec.retryPolicy, counts, failure)) {
    const runs = countRuns(counts)
    const message = runs > 1 ? `${failure.message} (after ${runs} runs)` : failure.message
    return { action: 'fail', reason, ...cause, message }
  }
  const delayMs = retryDelayMs(task.spec.retryPolicy, counts, random)
  const message = `run ${countRuns(counts)} failed and will be repeated: ${failure.message}`
  return { action: 'retry', reason, message, delayMs }
}

/** `cause`: why the attempt was lost, as far as known. */
function decideLoss(task: Task, cause?: string, loss?: SharedLoss): TaskDecision {
  const { interruptions } = countsOfIteration(task)
  const attempts = task.status?.attempts ?? 0
  if (task.metadata.annotations?.[restoredAttemptAnnotation] === String(attempts)) {
    const message = `attempt ${attempts} ran when the backup was taken that was restored, and is not repeated; create the task again if its work is not done`
    return { action: 'fail', reason: 'Interrupted', message }
  }
  // Who fails in a process of its own fails for itself.
  if (loss !== undefined) return { action: 'interrupt', message: `attempt ${attempts} ended early: ${cause}`, loss }
  if (interruptions >= maxInterruptions) {
    const last = cause === undefined ? '' : ` (${cause})`
    const message = `attempt ${attempts} was interrupted too${last}, like ${interruptions} before it; check whether the task crashes its host, then create it again`
    return { action: 'fail', reason: 'Interrupted', message }
  }
  const message =
    cause === undefined
      ? `attempt ${attempts} was lost with the process or node that held it; starting again`
      : `attempt ${attempts} was interrupted and will be repeated: ${cause}`
  return { action: 'interrupt', message }
}

function hasSucceeded({ task, attempt, hasResult }: TaskView): boolean {
  if (attempt?.phase === 'Succeeded') return hasResult || task.spec.type === 'container'
  // A stored result proves success, whatever happened to the worker afterwards: a task that succeeded never runs again.
  return hasResult && (attempt?.phase === 'Failed' || attempt?.phase === 'Missing')
}

type Failed = Extract<AttemptState, { phase: 'Failed' }>

/** Ended from outside although nobody asked for it: treated as lost. */
function isLost({ reason, cause }: Failed): boolean {
  return [reason, cause].some((word) => word !== undefined && failures[word].class === 'free')
}

function isOverdue(task: Task, attempt: AttemptState, now: Date): boolean {
  const deadline = deadlineOf(task, attempt)
  return deadline !== undefined && now.getTime() >= deadline.getTime()
}

/** When to look at a running task again even if nothing happens: at its deadline at the latest. */
export function watchDelayMs(task: Task, { now, bounds }: Moment, attempt?: AttemptState): number {
  const remaining = (deadlineOf(task, attempt)?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()
  const ofBudget = timeLeftMs(task, now, bounds) ?? Number.POSITIVE_INFINITY
  return Math.min(watchIntervalMs, Math.max(0, Math.min(remaining, ofBudget)))
}

function decideEnded(task: Task, attempt: AttemptState, random: number): TaskDecision | undefined {
  switch (attempt.phase) {
    case 'Succeeded': {
      const message = 'the worker ended without submitting a result; see the logs of the task'
      return decideFailedAttempt(task, { reason: 'NoResult', message }, random)
    }
    case 'Failed':
      return isLost(attempt)
        ? decideLoss(task, attempt.message, attempt.loss)
        : decideFailedAttempt(task, attempt, random)
    case 'Missing':
      return decideLoss(task)
    default:
      return undefined
  }
}

function decideWatch(task: Task, attempt: AttemptState, moment: Moment): TaskDecision {
  const lookAgainMs = watchDelayMs(task, moment, attempt)
  if (attempt.phase !== 'Pending' || attempt.reason === undefined) return { action: 'watch', lookAgainMs }
  const { reason, message = 'it is blocked' } = attempt
  return { action: 'watch', lookAgainMs, blocked: { reason, message } }
}

function failForTime(task: Task, { now, bounds }: Moment): TaskDecision | undefined {
  const message = explainTimeUsedUp(task, now, bounds)
  return message === undefined ? undefined : { action: 'fail', reason: 'BudgetExceeded', message }
}

/** For how long a wait that is not over can be left alone, in milliseconds. */
function leftOfParking(parking: ParkView | undefined): (number | undefined)[] {
  if (parking === undefined) return []
  const again = parking.reason === 'WaitingForApproval' ? approvalIntervalMs : undefined
  return [again, parking.isOver ? undefined : parking.leftMs]
}

function restUntil(ends: (number | undefined)[], parking: ParkView | undefined): TaskDecision {
  const soonest = Math.min(...ends.map((left) => left ?? Number.POSITIVE_INFINITY))
  return {
    action: 'rest',
    ...(soonest !== Number.POSITIVE_INFINITY && { lookAgainMs: soonest }),
    ...(parking?.isProbed && !parking.isOver && { isProbed: true }),
  }
}

function leftMs(end: Date | undefined, now: Date): number | undefined {
  return end === undefined ? undefined : end.getTime() - now.getTime()
}

/** Parked: until what it waits for has come, or its time is up. Without a record of that it goes on at once. */
function decideParked({ task, parking }: TaskView, moment: Moment): TaskDecision {
  const { now, bounds } = moment
  const cancel = describeCancel(task)
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  const usedUp = failForTime(task, moment)
  if (usedUp !== undefined) return usedUp
  const untilDeadline = leftMs(deadlineOf(task, undefined), now)
  if (untilDeadline !== undefined && untilDeadline <= 0) {
    return { action: 'fail', reason: 'TimedOut', message: describeTimeout(task) }
  }
  if ((parking === undefined || parking.isOver) && !task.spec.suspend) return { action: 'resume' }
  return restUntil([untilDeadline, timeLeftMs(task, now, bounds), ...leftOfParking(parking)], parking)
}

/** However the process ended: what it waits for was stored after everything else. */
function decidePark({ phase }: AttemptState, parking: ParkView | undefined): TaskDecision | undefined {
  if (parking === undefined || phase === 'Pending' || phase === 'Running') return undefined
  return { action: 'park', reason: parking.reason, message: parking.message }
}

function decideRunning(view: TaskView, input: DecisionInput): TaskDecision {
  const { now, random } = input
  const { task, attempt = { phase: 'Missing' }, parking } = view
  if (isParked(task)) return decideParked(view, input)
  if (hasSucceeded(view)) return { action: 'succeed', message: 'task completed successfully' }
  const cancel = describeCancel(task)
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  const failedOtherwise = attempt.phase === 'Failed' && !isLost(attempt)
  const usedUp = failedOtherwise ? undefined : failForTime(task, input)
  if (usedUp !== undefined) return usedUp
  if (!failedOtherwise && isOverdue(task, attempt, now)) {
    return { action: 'fail', reason: 'TimedOut', message: describeTimeout(task) }
  }
  return decidePark(attempt, parking) ?? decideEnded(task, attempt, random) ?? decideWatch(task, attempt, input)
}

const suspended = {
  action: 'suspend',
  reason: 'Suspended',
  message: 'suspended; set spec.suspend to false to start it',
} as const

function decidePending(task: Task, moment: Moment): TaskDecision {
  const { now, bounds } = moment
  const usedUp = failForTime(task, moment)
  if (usedUp !== undefined) return usedUp
  if (task.spec.suspend) return suspended
  const notBefore = task.status?.nextRetryTime === undefined ? 0 : Date.parse(task.status.nextRetryTime)
  const lookAgainMs = notBefore - now.getTime()
  if (lookAgainMs <= 0) return { action: 'start' }
  return {
    action: 'wait',
    reason: 'RetryDelay',
    message: task.status?.message ?? 'waiting before the next run',
    lookAgainMs: Math.min(lookAgainMs, Math.max(0, timeLeftMs(task, now, bounds) ?? lookAgainMs)),
  }
}

/** The one thing to do about a task now. */
export function decideTask(view: TaskView, input: DecisionInput): TaskDecision {
  const { task } = view
  if (task.metadata.deletionTimestamp !== undefined) return { action: 'delete' }
  const phase = task.status?.phase
  if (isTerminalPhase(phase)) return { action: 'none' }
  if (hasAttempt(task.status)) return decideRunning(view, input)
  const end = phase === undefined ? readEndMark(task) : undefined
  if (end !== undefined) return { action: 'recall', end }
  const cancel = describeCancel(task)
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  if (task.spec.schedule !== undefined) return { action: 'schedule' }
  return decidePending(task, input)
}
