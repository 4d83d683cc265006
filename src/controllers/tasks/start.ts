// From Pending to Running: references, capacity, the session, the workload.
import { type Task, type TaskStatus, waitingCondition } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, messageOf, type SvcError } from '../../errors.ts'
import type { WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { budgetSubjectOf } from '../../rules/budgets/budget.ts'
import { dropConditions, setCondition } from '../../rules/resources/conditions.ts'
import { watchDelayMs } from '../../rules/tasks/decision.ts'
import { isParked, parkedCondition } from '../../rules/tasks/parking.ts'
import { showWorkspace } from '../../rules/workspaces/execution-workspace.ts'
import type { Reconciled } from '../engine/controller.ts'
import { buildWorkload } from './assignment.ts'
import { type ReconcileContext, siblingsOf, taskKeyOf } from './context.ts'
import { failAttempt, finishTask } from './finish.ts'
import { type NewAttempt, recallMemories, resolveReferences, type TaskReferences } from './references.ts'
import { beginWait } from './retry-time.ts'
import { lockSession } from './session-lock.ts'
import type { StatusChange } from './status-recorder.ts'
import { tryReserveSlot, waitForNote, waitForReferences, waitForSession } from './waiting.ts'

const refusalPauseMs = 1_000

type Conditions = TaskStatus['conditions']

/** Parked becomes False where the task goes on, and vanishes where it starts over. */
function settleParked(task: Task, message: string, now: Date): Conditions {
  const { conditions } = task.status ?? {}
  if (!isParked(task)) return dropConditions(conditions, parkedCondition)
  return setCondition(conditions, { type: parkedCondition, status: 'False', reason: 'Resumed', message }, now)
}

type Begun = Pick<NewAttempt, 'attempt' | 'memories'> & { workload: Pick<WorkloadSpec, 'workspace' | 'isolation'> }

function nameMemories(memories: Begun['memories']): TaskStatus['memories'] {
  return memories.length > 0 ? memories.map(({ id, why }) => ({ id, why })) : undefined
}

function makeRunningStatus(task: Task, { attempt, memories, workload }: Begun, now: Date): StatusChange {
  const { workspace, isolation } = workload
  const message = `attempt ${attempt} was started`
  const parked = settleParked(task, message, now)
  const conditions = dropConditions(parked, 'WaitingForReferences', 'Suspended', waitingCondition)
  const created = { type: 'JobCreated', status: 'True' as const, reason: 'JobCreated', message }
  return {
    phase: 'Running',
    attempts: attempt,
    startTime: (isParked(task) && task.status?.startTime) || now.toISOString(),
    firstStartTime: task.status?.firstStartTime ?? now.toISOString(),
    message,
    memories: isParked(task) ? task.status?.memories : nameMemories(memories),
    conditions: setCondition(conditions, created, now),
    queuedReason: undefined,
    nextRetryTime: undefined,
    completionTime: undefined,
    nextScheduleTime: undefined,
    isolation,
    ...(workspace && { executionWorkspace: showWorkspace(workspace) }),
    // An attempt of several workers has its own count by now.
    ...(task.spec.type !== 'container' && { iteration: task.status?.iteration ?? 0 }),
  }
}

/** For how long a task that goes on has lasted; 0 for one that begins. */
function measureLasted({ state }: ReconcileContext, task: Task): number {
  const { startTime } = task.status ?? {}
  if (!isParked(task) || startTime === undefined) return 0
  return state.stopwatches.momentOf(task.metadata.uid, startTime).getTime() - Date.parse(startTime)
}

async function noteAccepted(context: ReconcileContext, task: Task): Promise<void> {
  if (task.status?.phase !== undefined) return
  await context.recorder.append(task, { type: 'PhaseChanged', phase: 'Pending', message: 'the task was accepted' })
}

/** Announces the attempt, then starts it, so that the attempt is live from the worker's first call on. */
async function launch(context: ReconcileContext, task: Task, references: TaskReferences): Promise<Reconciled> {
  const { state, clock, recorder, workloads } = context
  const key = taskKeyOf(task)
  const { uid, namespace } = task.metadata
  const attempt = (task.status?.attempts ?? 0) + 1
  const now = clock.now()
  // A conversation that goes on has what it began with.
  const memories = isParked(task) ? [] : await recallMemories(context, task)
  const build = buildWorkload(context, {
    task,
    attempt,
    startedAt: now,
    lastedMs: measureLasted(context, task),
    references,
    memories,
  })
  const [workload] = await Promise.all([build, noteAccepted(context, task)])
  const mode = workload.isolation?.mode ?? 'own'
  state.scheduler.setStarting(key, { namespace, siblings: siblingsOf(task), uid, attempt, mode })
  const event = { type: 'PhaseChanged', phase: 'Running' as const, message: `attempt ${attempt} was started`, attempt }
  const running = await recorder.move(task, event, makeRunningStatus(task, { attempt, memories, workload }, now))
  try {
    await workloads.ensure(workload)
  } catch (error) {
    return await handleRefusal(context, running, error)
  }
  state.scheduler.setStarted(key)
  return { requeueAfterMs: watchDelayMs(running, { now: clock.now() }, { phase: 'Pending' }) }
}

/** The workload could not be started: no capacity after all, or a failure of the attempt. */
async function handleRefusal(context: ReconcileContext, task: Task, error: unknown): Promise<Reconciled> {
  const message = messageOf(error)
  context.log.warn({ task: taskKeyOf(task), error: message }, 'an attempt could not be started')
  if (!isSvcError(error, 'Unavailable')) return await failAttempt(context, task, { reason: 'StartFailed', message })
  const event = { type: 'Queued', phase: 'Pending' as const, reason: 'Capacity', message }
  const attempts = (task.status?.attempts ?? 1) - 1
  const nextRetryTime = beginWait(context, task, refusalPauseMs)
  const change = { phase: 'Pending' as const, attempts, queuedReason: 'Capacity', message, nextRetryTime }
  await context.recorder.move(task, event, change)
  context.state.scheduler.release(taskKeyOf(task))
  return { requeueAfterMs: refusalPauseMs }
}

async function startGranted(context: ReconcileContext, task: Task, references: TaskReferences): Promise<Reconciled> {
  // A parked task still holds its session.
  if (!isParked(task) && !(await lockSession(context, task, references.agent)))
    return await waitForSession(context, task)
  return await launch(context, task, references)
}

/** BudgetExceeded. */
async function requireSpendable({ spending, taskBudgets }: ReconcileContext, task: Task): Promise<void> {
  await spending?.require(budgetSubjectOf(task))
  await taskBudgets?.require(task)
}

/** What an error means for a task that could not start; undefined: nothing that is known. */
async function handleProblem(context: ReconcileContext, task: Task, error: SvcError): Promise<Reconciled | 'unknown'> {
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
export async function startTask(context: ReconcileContext, task: Task): Promise<Reconciled> {
  context.state.waiters.leave(taskKeyOf(task))
  try {
    const references = await resolveReferences(context, task)
    if (task.spec.type !== 'container') await requireSpendable(context, task)
    if (!(await tryReserveSlot(context, task, references.agent))) return undefined
    // Not at each look of a task that waits for its turn.
    const obstacle = await context.noteUses?.(task, references.agent)
    if (obstacle !== undefined) return await waitForNote(context, task, obstacle)
    return await startGranted(context, task, references)
  } catch (error) {
    const handled = isSvcError(error) ? await handleProblem(context, task, error) : 'unknown'
    if (handled !== 'unknown') return handled
    context.state.scheduler.release(taskKeyOf(task))
    throw error
  }
}
