// A task with a schedule never runs itself: at each tick it creates a child that does.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import { type ChildOutcome, createChild } from '../../lookup/child-task.ts'
import { dropConditions, setCondition } from '../../rules/resources/conditions.ts'
import {
  decideSchedule,
  makeScheduledRun,
  nameScheduledRun,
  runAnnotation,
  type ScheduleDecision,
  scheduledRunLabel,
  wantedRunOf,
} from '../../rules/tasks/schedule.ts'
import { parentOf } from '../../rules/tasks/stamp.ts'
import type { Reconciled } from '../engine/controller.ts'
import { readChildren, removeExpiredRuns } from './children.ts'
import { type ReconcileContext, taskKeyOf } from './context.ts'
import { finishTask } from './finish.ts'
import type { StatusChange, TaskEvent } from './status-recorder.ts'

type Ticked = Extract<ScheduleDecision, { tick: Date }>

function isActiveRun(child: Task): boolean {
  return child.metadata.labels?.[scheduledRunLabel] === 'true' && !isTerminalPhase(child.status?.phase)
}

function decide(context: ReconcileContext, task: Task, children: Task[]): ScheduleDecision {
  const { schedule = '', timeZone, startingDeadlineSeconds, concurrencyPolicy, suspend } = task.spec
  const lastTick = task.status?.lastScheduleTime
  return decideSchedule(
    { schedule, timeZone, startingDeadlineSeconds, concurrencyPolicy, suspend },
    {
      createdAt: new Date(task.metadata.creationTimestamp),
      lastTick: lastTick === undefined ? undefined : new Date(lastTick),
      hasActiveRun: children.some(isActiveRun),
    },
    context.clock.now(),
  )
}

/** Creates the child of a tick. An existing child of that name is this tick's own, created before a crash. */
async function createRun(context: ReconcileContext, task: Task, tick: Date): Promise<ChildOutcome> {
  try {
    return await createChild(context, task, makeScheduledRun(task, tick))
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    return { made: true }
  }
}

/** A run without the token that it should have is not created: the tick is skipped with that reason. */
function describeRefusal(tick: Date, message: string): TaskEvent {
  const at = tick.toISOString()
  return {
    type: 'RunSkipped',
    reason: 'TokenExchangeFailed',
    message: `the run of ${at} was skipped because it has no transaction token: ${message}`,
  }
}

function describeTick(task: Task, decision: Ticked): TaskEvent {
  const at = decision.tick.toISOString()
  switch (decision.action) {
    case 'run':
      return { type: 'ScheduledRun', message: `run ${nameScheduledRun(task.metadata.name, decision.tick)} was created` }
    case 'skip':
      return {
        type: 'RunSkipped',
        reason: 'Forbid',
        message: `the run of ${at} was skipped: the previous run has not ended`,
      }
    case 'missed': {
      const limit = `${task.spec.startingDeadlineSeconds} s`
      return { type: 'MissedSchedule', message: `the run of ${at} was due more than ${limit} ago and was skipped` }
    }
  }
}

/** Status of an active schedule; `next` is undefined when it never fires again. */
function makeScheduledStatus(context: ReconcileContext, task: Task, next: Date | undefined): StatusChange {
  const isSuspended = task.spec.suspend
  const suspended = {
    type: 'Suspended',
    status: 'True' as const,
    reason: 'Suspended',
    message: 'no runs are created until spec.suspend is false',
  }
  const { conditions } = task.status ?? {}
  return {
    phase: 'Scheduled',
    conditions: isSuspended
      ? setCondition(conditions, suspended, context.clock.now())
      : dropConditions(conditions, 'Suspended'),
    nextScheduleTime: next?.toISOString(),
    queuedReason: undefined,
    message: isSuspended ? 'suspended; set spec.suspend to false to resume it' : describeNext(next),
  }
}

function describeNext(next: Date | undefined): string {
  return next === undefined
    ? 'the schedule never fires again; change spec.schedule'
    : `next run at ${next.toISOString()}`
}

async function enterScheduled(context: ReconcileContext, task: Task, change: StatusChange): Promise<Task> {
  if (task.status?.phase === 'Scheduled') return await context.recorder.write(task, change)
  const message = `runs are created by schedule ${task.spec.schedule}`
  return await context.recorder.move(task, { type: 'PhaseChanged', phase: 'Scheduled', message }, change)
}

async function applyTick(context: ReconcileContext, task: Task, decision: Ticked): Promise<StatusChange> {
  const outcome = decision.action === 'run' ? await createRun(context, task, decision.tick) : undefined
  const event = outcome?.made === false ? describeRefusal(decision.tick, outcome.message) : describeTick(task, decision)
  await context.recorder.append(task, { ...event, phase: 'Scheduled' })
  return { lastScheduleTime: decision.tick.toISOString() }
}

/** Creates the run that a person requested; the request is cleared when the run exists, or cannot be created. */
async function makeWantedRun(context: ReconcileContext, task: Task): Promise<Task> {
  const tick = wantedRunOf(task)
  if (tick === undefined) return task
  const outcome = await createRun(context, task, tick)
  const event = outcome.made
    ? {
        type: 'ScheduledRun',
        message: `run ${nameScheduledRun(task.metadata.name, tick)} was created on request`,
      }
    : describeRefusal(tick, outcome.message)
  await context.recorder.append(task, { ...event, phase: 'Scheduled' })
  const { [runAnnotation]: _asked, ...annotations } = task.metadata.annotations ?? {}
  return await context.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
}

/** A child's token expires soon, and no command can renew it at every tick (reference 3.7). */
function findUnsupported({ tokenExchange }: ReconcileContext, task: Task): string | undefined {
  const { type, transaction } = task.spec
  if (tokenExchange === undefined || transaction === undefined) return undefined
  if (type !== 'container' || parentOf(task) === undefined) return undefined
  return 'unsupported_schedule: a container task that is the child of a transaction runs once; remove spec.schedule'
}

export async function reconcileSchedule(context: ReconcileContext, found: Task): Promise<Reconciled> {
  const task = await makeWantedRun(context, found)
  context.state.changedParents.delete(taskKeyOf(task))
  const unsupported = findUnsupported(context, task)
  if (unsupported !== undefined) {
    return await finishTask(context, task, { phase: 'Failed', reason: 'Validation', message: unsupported })
  }
  const children = await readChildren(context, task)
  const decision = decide(context, task, children)
  if (decision.action === 'invalid') {
    return await finishTask(context, task, { phase: 'Failed', reason: 'Validation', message: decision.message })
  }
  const next = 'next' in decision ? decision.next : undefined
  const ticked = 'tick' in decision ? await applyTick(context, task, decision) : {}
  await enterScheduled(context, task, { ...makeScheduledStatus(context, task, next), ...ticked })
  await removeExpiredRuns(context, task, children)
  if (next === undefined) return undefined
  return { requeueAfterMs: Math.max(0, next.getTime() - context.clock.now().getTime()) }
}
