// How attempts and tasks end (succeeded, failed, cancelled, to be repeated, lost), and the files that they leave.
import { Readable } from 'node:stream'
import { noteForLog } from '../../contract/api/tasks/log-marks.ts'
import type { FailureReason, RunFailure } from '../../contract/kinds/tasks/failures.ts'
import { hasAttempt, type Task, type TaskUsage, waitingCondition } from '../../contract/kinds/tasks/task.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { findMisspelling } from '../../lookup/model-spelling.ts'
import type { LogDraft } from '../../ports/tasks/outputs.ts'
import type { LeftFile, WorkloadState } from '../../ports/tasks/workloads.ts'
import { dropConditions, setCondition } from '../../rules/resources/conditions.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import { decideFailedAttempt, type TaskDecision } from '../../rules/tasks/decision.ts'
import { parkedCondition } from '../../rules/tasks/parking.ts'
import type { AttemptFailure } from '../../rules/tasks/retry.ts'
import type { Reconciled } from '../engine/controller.ts'
import { cancelDelegated, readLastChildTasks } from './children.ts'
import { attemptOf, type ReconcileContext, taskKeyOf } from './context.ts'
import { listEnds, markEnd } from './ended.ts'
import { beginWait } from './retry-time.ts'
import { appendOutcome, countInSession, unlockSession } from './session-lock.ts'
import type { StatusChange } from './status-recorder.ts'

/** Why the file is not kept, or undefined when it is. */
async function keepFile(context: ReconcileContext, task: Task, file: LeftFile): Promise<string | undefined> {
  if ('skipped' in file) return file.skipped
  const body = Readable.from(file.open(), { objectMode: false })
  try {
    const artifact = { filename: file.name, contentType: contentTypeOf(file.name), body }
    await context.records.artifacts.put(attemptOf(task), artifact)
    return undefined
  } catch (error) {
    if (isSvcError(error, 'Unavailable')) throw error
    return messageOf(error)
  } finally {
    body.destroy()
  }
}

/** Call it before the attempt is removed. Files that cannot be read any more are reported as lost in the task's log. */
async function keepArtifacts(context: ReconcileContext, task: Task): Promise<void> {
  if (task.spec.artifactsDir === undefined || !hasAttempt(task.status)) return
  const key = attemptOf(task)
  const notes: LogDraft[] = []
  try {
    for await (const file of context.workloads.readLeftFiles(key)) {
      const skipped = await keepFile(context, task, file)
      if (skipped !== undefined)
        notes.push(noteForLog(`[artifact ${JSON.stringify(file.name)} is left out: ${skipped}]`, 'warn'))
    }
  } catch (error) {
    context.log.warn({ task: taskKeyOf(task), error: messageOf(error) }, 'artifacts of a command were lost')
    notes.push(noteForLog(`[artifacts are lost: ${messageOf(error)}]`, 'error'))
  }
  if (notes.length > 0) await context.records.logs.append(key, notes)
}

type TaskEnd = {
  /** One sentence that tells the user what to do (TASK-046). */
  message: string
} & (
  | { phase: 'Succeeded' | 'Cancelled' }
  /** `cause`: the reason that the worker gave; it also appears in the condition Complete. */
  | { phase: 'Failed'; reason: FailureReason; cause?: RunFailure }
)

const completeReasons = { Succeeded: 'TaskSucceeded', Failed: 'TaskFailed', Cancelled: 'TaskCancelled' } as const
const eventReasons = { Succeeded: 'TaskSucceeded', Cancelled: 'Cancelled' } as const

/** Stops the attempt that runs, if one does, and waits until nothing of it is left. What it was saying is kept. */
export async function stopAttempt(context: ReconcileContext, task: Task): Promise<void> {
  const attempt = attemptOf(task)
  if (attempt.attempt === 0) return
  await context.workloads.remove(attempt)
  await context.records.logs.finishLine(attempt)
}

/** What the task used so far; undefined before its first model call. */
export async function sumUsage(context: ReconcileContext, task: Task): Promise<TaskUsage | undefined> {
  const sum = await context.records.usage.ofTask(task.metadata.uid)
  if (sum === undefined || sum.llmCalls === 0) return undefined
  const {
    namespace: _namespace,
    taskUid: _uid,
    caller: _caller,
    cost,
    currency,
    unpricedCalls: _unpriced,
    ...counted
  } = sum
  return { ...counted, ...(cost === undefined || currency === undefined ? {} : { cost, currency }) }
}

type Ended = { outcome: TaskEnd; usage: TaskUsage | undefined }

async function makeFinalStatus(
  context: ReconcileContext,
  task: Task,
  { outcome, usage }: Ended,
): Promise<StatusChange> {
  const now = context.clock.now()
  const { phase, message } = outcome
  const reason = (outcome.phase === 'Failed' && outcome.cause) || completeReasons[phase]
  const available = phase === 'Succeeded' && (await context.records.results.get(task.metadata.uid)) !== undefined
  const waits = dropConditions(
    task.status?.conditions,
    'WaitingForReferences',
    waitingCondition,
    parkedCondition,
    'Suspended',
  )
  const status = phase === 'Succeeded' ? ('True' as const) : ('False' as const)
  const callbackDue = task.spec.webhookURL !== undefined
  return {
    ...(await readLastChildTasks(context, task)),
    phase,
    message,
    completionTime: now.toISOString(),
    resultRef: { available },
    conditions: listEnds(outcome.phase, { status, reason, message }).reduce(
      (conditions, end) => setCondition(conditions, end, now),
      waits,
    ),
    usage,
    ...(outcome.phase === 'Failed' && { failureReason: outcome.cause ?? outcome.reason }),
    queuedReason: undefined,
    nextRetryTime: undefined,
    ...(callbackDue && { webhook: { state: 'Pending' as const, attempts: 0 }, webhookDelivered: false }),
  }
}

/** Ends the task: everything it leaves behind is written before its final status (TASK-062). */
export async function finishTask(context: ReconcileContext, task: Task, outcome: TaskEnd): Promise<Reconciled> {
  const wasLive = hasAttempt(task.status)
  if (outcome.phase !== 'Cancelled') await keepArtifacts(context, task)
  // A successful attempt has ended by itself; any other must be stopped completely before the task counts as ended.
  if (wasLive && outcome.phase !== 'Succeeded') await stopAttempt(context, task)
  if (outcome.phase !== 'Cancelled') await appendOutcome(context, task, outcome.message)
  if (task.spec.type === 'agent') await context.settleUsage?.()
  const usage = await sumUsage(context, task)
  await countInSession(context, task, usage)
  await unlockSession(context, task)
  const status = await makeFinalStatus(context, task, { outcome, usage })
  const { phase, message } = outcome
  const reason = outcome.phase === 'Failed' ? outcome.reason : eventReasons[outcome.phase]
  const marked = await markEnd(context, task, { phase, completionTime: context.clock.now().toISOString() })
  const ended = await context.recorder.move(marked, { type: 'PhaseChanged', phase, reason, message }, status)
  if (wasLive) await stopAttempt(context, task)
  if (outcome.phase !== 'Succeeded') await cancelDelegated(context, task, `is ${outcome.phase}`)
  context.state.scheduler.release(taskKeyOf(task))
  if (ended.status?.webhook?.state === 'Pending') context.callbackDue(taskKeyOf(task))
  return undefined
}

/** Stores a command's output as the task's result. A command without output has none. */
export async function saveOutput(context: ReconcileContext, task: Task, state: WorkloadState): Promise<void> {
  if (state.phase !== 'Succeeded' || task.spec.type !== 'container') return
  const { text = '', truncated = false } = state.output ?? {}
  if (text === '') return
  const body = truncated ? `${text}\n[truncated]` : text
  await context.records.results.put(attemptOf(task), Readable.from([Buffer.from(body)]), 'text/plain; charset=utf-8')
}

/** Ends the attempt and sets the earliest time of the next one (TASK-042). */
export async function scheduleRetry(
  context: ReconcileContext,
  task: Task,
  { reason, message, delayMs }: Extract<TaskDecision, { action: 'retry' }>,
): Promise<Reconciled> {
  await keepArtifacts(context, task)
  await stopAttempt(context, task)
  const nextRetryTime = beginWait(context, task, delayMs)
  const event = { type: 'RetryScheduled', phase: 'Pending' as const, reason, message }
  await context.recorder.move(task, event, {
    phase: 'Pending',
    message,
    nextRetryTime,
    queuedReason: 'RetryDelay',
    completionTime: undefined,
    resultRef: undefined,
  })
  context.state.scheduler.release(taskKeyOf(task))
  return { requeueAfterMs: delayMs }
}

type FailDecision = Extract<TaskDecision, { action: 'fail' }>

/** A program tells the vendor's words, which name the model when it is unknown. */
async function findMisspellingIn({ resources }: ReconcileContext, task: Task, message: string) {
  const key = agentKeyOf(task)
  if (task.spec.type !== 'agent' || key === undefined) return undefined
  const agent = await resources.get('Agent', key)
  const model = agent?.spec.model?.name
  return agent && model && message.includes(model) ? await findMisspelling(resources, agent) : undefined
}

export async function failTask(
  context: ReconcileContext,
  task: Task,
  { action: _, ...failure }: FailDecision,
): Promise<Reconciled> {
  const misspelling = await findMisspellingIn(context, task, failure.message)
  const hint = misspelling === undefined ? '' : `${failure.message.endsWith('.') ? '' : ';'} ${misspelling}`
  return await finishTask(context, task, { phase: 'Failed', ...failure, message: failure.message + hint })
}

/** Ends a failed attempt as the retry policy says. */
export async function failAttempt(context: ReconcileContext, task: Task, failure: AttemptFailure): Promise<Reconciled> {
  const decision = decideFailedAttempt(task, failure, context.ids.random())
  if (decision.action === 'retry') return await scheduleRetry(context, task, decision)
  return await failTask(context, task, decision)
}

type InterruptDecision = Extract<TaskDecision, { action: 'interrupt' }>

/** What is counted of a lost attempt, and how the next one runs. */
function countLoss({ status = {} }: Task, loss: InterruptDecision['loss']): StatusChange {
  if (loss === undefined) return { interruptions: (status.interruptions ?? 0) + 1 }
  return {
    sharedLosses: (status.sharedLosses ?? 0) + 1,
    ...(loss === 'suspect' && { isolation: { mode: 'own' as const, reason: 'Suspect' as const } }),
  }
}

/** Closes a lost attempt; the next one follows at once and costs no retry (TASK-043). */
export async function closeInterrupted(
  context: ReconcileContext,
  task: Task,
  { message, loss }: InterruptDecision,
): Promise<Reconciled> {
  await stopAttempt(context, task)
  const event = { type: 'Interrupted', phase: 'Pending' as const, reason: 'Interrupted', message }
  await context.recorder.move(task, event, {
    phase: 'Pending',
    message,
    ...countLoss(task, loss),
    queuedReason: undefined,
    nextRetryTime: undefined,
  })
  context.state.scheduler.release(taskKeyOf(task))
  return { requeueAfterMs: 0 }
}
