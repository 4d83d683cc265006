// The phase machine of tasks: from what is stored and what is seen of the attempt, to the one thing to do now.
import { formatDuration, tryParseDuration } from '../contract/duration.ts'
import { isTerminalPhase, type Task } from '../contract/resources/task.ts'
import { type AttemptFailure, countRuns, maxInterruptions, mayRetry, type RetryCounts, retryDelayMs } from './retry.ts'

/** What is seen of the live attempt (the same shape as the workloads port gives). */
export type AttemptState =
  | { phase: 'Pending' }
  | { phase: 'Running' }
  | { phase: 'Succeeded' }
  /** `cause` is the worker's own word, more exact than `reason`. */
  | { phase: 'Failed'; reason: string; cause?: string; message: string }
  | { phase: 'Missing' }

type TaskView = {
  task: Task
  /** Of the live attempt; only looked at while the phase is Running. */
  attempt?: AttemptState | undefined
  /** Whether the live attempt's result is stored. */
  hasResult: boolean
}

export type TaskDecision =
  /** Ended, and nothing to be done. */
  | { action: 'none' }
  /** Being deleted: stop it, remove its records, let it go. */
  | { action: 'delete' }
  /** Has a schedule: its ticks decide. */
  | { action: 'schedule' }
  /** May start as soon as there is room. */
  | { action: 'start' }
  /** Must not start before `lookAgainMs` have passed. */
  | { action: 'wait'; reason: string; message: string; lookAgainMs: number }
  /** Runs; look again then at the latest. */
  | { action: 'watch'; lookAgainMs: number }
  | { action: 'retry'; cause?: string; message: string; delayMs: number }
  /** The attempt was lost through no fault of its own; another follows at once (TASK-043). */
  | { action: 'interrupt'; message: string }
  | { action: 'succeed'; message: string }
  | { action: 'fail'; reason: string; cause?: string; message: string }
  | { action: 'cancel'; message: string }

type DecisionInput = {
  now: Date
  /** In [0, 1): jitter of retry delays. */
  random: number
}

/** A running attempt is looked at this often though nothing was reported of it. */
export const watchIntervalMs = 30_000

/** Its presence asks for the task to be cancelled; the value is the reason. */
export const cancelAnnotation = 'svc.ai/cancel-requested'

function countsOf(task: Task): RetryCounts {
  return { attempts: task.status?.attempts ?? 0, interruptions: task.status?.interruptions ?? 0 }
}

/** When the running attempt times out, or undefined. */
function deadlineOf(task: Task): Date | undefined {
  const timeout = task.spec.timeout === undefined ? undefined : tryParseDuration(task.spec.timeout)
  const started = task.status?.startTime
  return timeout === undefined || started === undefined ? undefined : new Date(Date.parse(started) + timeout)
}

function describeTimeout(task: Task): string {
  const timeout = formatDuration(tryParseDuration(task.spec.timeout ?? '') ?? 0)
  return `task timed out after ${timeout}; raise spec.timeout or make the work smaller`
}

function describeCancel(task: Task): string | undefined {
  const reason = task.metadata.annotations?.[cancelAnnotation]
  if (reason === undefined) return undefined
  return reason.trim() === '' ? 'cancelled on request' : `cancelled: ${reason.trim()}`
}

type FailureDecision = Extract<TaskDecision, { action: 'retry' | 'fail' }>

/** What follows a failed attempt: another run, or the task's failure. */
export function decideFailedAttempt(task: Task, failure: AttemptFailure, random: number): FailureDecision {
  const reason = failure.cause ?? failure.reason
  if (reason === 'DeadlineExceeded' && task.spec.timeout !== undefined) {
    return { action: 'fail', reason: 'TimedOut', message: describeTimeout(task) }
  }
  const counts = countsOf(task)
  const cause = failure.cause === undefined ? {} : { cause: failure.cause }
  if (!mayRetry(task.spec.retryPolicy, counts, failure)) {
    const runs = countRuns(counts)
    const message = runs > 1 ? `${failure.message} (after ${runs} runs)` : failure.message
    return { action: 'fail', reason, ...cause, message }
  }
  const delayMs = retryDelayMs(task.spec.retryPolicy, counts, random)
  const message = `run ${countRuns(counts)} failed and is repeated: ${failure.message}`
  return { action: 'retry', ...cause, message, delayMs }
}

function decideLoss(task: Task): TaskDecision {
  const { attempts, interruptions } = countsOf(task)
  if (interruptions >= maxInterruptions) {
    const message = `attempt ${attempts} was interrupted too, as ${interruptions} before it; see whether the task brings its host down, then create it again`
    return { action: 'fail', reason: 'Interrupted', message }
  }
  return {
    action: 'interrupt',
    message: `attempt ${attempts} was lost with the process or node that held it; starting again`,
  }
}

function hasSucceeded({ task, attempt, hasResult }: TaskView): boolean {
  if (attempt?.phase === 'Succeeded') return hasResult || task.spec.type === 'container'
  // A stored result is the proof of success, whatever became of the worker after it: nothing is run twice to success.
  return hasResult && (attempt?.phase === 'Failed' || attempt?.phase === 'Missing')
}

type Failed = Extract<AttemptState, { phase: 'Failed' }>

/** Ended from outside and by nobody's wish: as good as lost. */
function isStopped({ reason, cause }: Failed): boolean {
  return reason === 'Stopped' || cause === 'Stopped'
}

function isOverdue(task: Task, now: Date): boolean {
  const deadline = deadlineOf(task)
  return deadline !== undefined && now.getTime() >= deadline.getTime()
}

/** When a running task is looked at again though nothing happened: at its deadline at the latest. */
export function watchDelayMs(task: Task, now: Date): number {
  const remaining = (deadlineOf(task)?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()
  return Math.min(watchIntervalMs, Math.max(0, remaining))
}

function decideEnded(task: Task, attempt: AttemptState, random: number): TaskDecision | undefined {
  switch (attempt.phase) {
    case 'Succeeded': {
      const message = 'the worker ended without submitting a result; see the logs of the task'
      return decideFailedAttempt(task, { reason: 'NoResult', message }, random)
    }
    case 'Failed':
      return isStopped(attempt) ? decideLoss(task) : decideFailedAttempt(task, attempt, random)
    case 'Missing':
      return decideLoss(task)
    default:
      return undefined
  }
}

function decideRunning(view: TaskView, { now, random }: DecisionInput): TaskDecision {
  const { task, attempt = { phase: 'Missing' } } = view
  if (hasSucceeded(view)) return { action: 'succeed', message: 'task completed successfully' }
  const cancel = describeCancel(task)
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  const failedOtherwise = attempt.phase === 'Failed' && !isStopped(attempt)
  if (!failedOtherwise && isOverdue(task, now)) {
    return { action: 'fail', reason: 'TimedOut', message: describeTimeout(task) }
  }
  return decideEnded(task, attempt, random) ?? { action: 'watch', lookAgainMs: watchDelayMs(task, now) }
}

function decidePending(task: Task, now: Date): TaskDecision {
  const notBefore = task.status?.nextRetryTime === undefined ? 0 : Date.parse(task.status.nextRetryTime)
  const lookAgainMs = notBefore - now.getTime()
  if (lookAgainMs <= 0) return { action: 'start' }
  return {
    action: 'wait',
    reason: 'RetryDelay',
    message: task.status?.message ?? 'waiting before the next run',
    lookAgainMs,
  }
}

/** The one thing to do about a task now. */
export function decideTask(view: TaskView, input: DecisionInput): TaskDecision {
  const { task } = view
  if (task.metadata.deletionTimestamp !== undefined) return { action: 'delete' }
  const phase = task.status?.phase
  if (isTerminalPhase(phase)) return { action: 'none' }
  if (phase === 'Running') return decideRunning(view, input)
  const cancel = describeCancel(task)
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  if (task.spec.schedule !== undefined) return { action: 'schedule' }
  return decidePending(task, input.now)
}
