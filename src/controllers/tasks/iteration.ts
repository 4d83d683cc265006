// What follows a successful attempt: the end of the task, or for an autonomous agent the next iteration.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { dropConditions, setCondition } from '../../rules/resources/conditions.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import { describeCancel } from '../../rules/tasks/decision.ts'
import { autonomyOf, decideIteration, type IterationStep, restsBetweenIterations } from '../../rules/tasks/iteration.ts'
import type { Reconciled } from '../engine/controller.ts'
import { lookWhenTimeIsUp, type ReconcileContext, readBounds, taskKeyOf } from './context.ts'
import { finishTask, stopAttempt, sumUsage } from './finish.ts'

async function findAgent(context: ReconcileContext, task: Task): Promise<Agent | undefined> {
  const key = agentKeyOf(task)
  if (task.spec.type !== 'ai' || key === undefined) return undefined
  return await context.resources.get('Agent', key)
}

/** Undefined when the task does not work in iterations. */
async function decideNext(context: ReconcileContext, task: Task): Promise<IterationStep | undefined> {
  const autonomy = autonomyOf(await findAgent(context, task))
  if (autonomy === undefined) return undefined
  const plan = await context.records.plans?.get(task.metadata.uid)
  const { maxIterations } = autonomy
  const bounds = await readBounds(context, task)
  return decideIteration({ task, maxIterations, plan, cancel: describeCancel(task), now: context.clock.now(), bounds })
}

/** The task stays Running without an attempt and without a slot; a change of its spec wakes it. */
async function keepSuspended(context: ReconcileContext, task: Task, message: string): Promise<Reconciled> {
  if (!restsBetweenIterations(task)) await stopAttempt(context, task)
  const condition = { type: 'Suspended', status: 'True' as const, reason: 'Suspended', message }
  const conditions = setCondition(task.status?.conditions, condition, context.clock.now())
  const change = { message, conditions, usage: await sumUsage(context, task) }
  const event = { type: 'Queued', phase: 'Running' as const, reason: 'Suspended', message }
  if (restsBetweenIterations(task)) await context.recorder.write(task, change)
  else await context.recorder.move(task, event, change)
  context.state.scheduler.release(taskKeyOf(task))
  return await lookWhenTimeIsUp(context, task)
}

type Next = Extract<IterationStep, { action: 'next' }>

/** One write moves the task to its next iteration, which then waits for a slot like any other task. */
async function beginNext(context: ReconcileContext, task: Task, { iteration, message }: Next): Promise<Reconciled> {
  await stopAttempt(context, task)
  const { attempts = 0, interruptions = 0, parkings = 0, sharedLosses = 0, conditions } = task.status ?? {}
  const usage = await sumUsage(context, task)
  const event = { type: 'AutonomousIteration', phase: 'Pending' as const, reason: 'AutonomousIteration', message }
  await context.recorder.move(task, event, {
    phase: 'Pending',
    message,
    iteration,
    earlierIterations: { attempts, interruptions, parkings, sharedLosses },
    conditions: dropConditions(conditions, 'Suspended'),
    queuedReason: undefined,
    nextRetryTime: undefined,
    usage,
  })
  // Whoever waits is granted the slot first.
  context.state.scheduler.release(taskKeyOf(task))
  return { requeueAfterMs: 0 }
}

/** The attempt has succeeded; `message`: what is said when that is the end of the task. */
export async function endAttempt(context: ReconcileContext, task: Task, message: string): Promise<Reconciled> {
  const step = await decideNext(context, task)
  switch (step?.action) {
    case 'next':
      return await beginNext(context, task, step)
    case 'suspend':
      return await keepSuspended(context, task, step.message)
    case 'fail':
      return await finishTask(context, task, { phase: 'Failed', reason: 'BudgetExceeded', message: step.message })
    case 'cancel':
      return await finishTask(context, task, { phase: 'Cancelled', message: step.message })
    case 'succeed':
      return await finishTask(context, task, { phase: 'Succeeded', message: step.message })
    case undefined:
      return await finishTask(context, task, { phase: 'Succeeded', message })
  }
}
