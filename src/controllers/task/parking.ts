// Parked tasks: nothing of them runs, and they hold no place, until what they wait for has come.
import type { ParkWait } from '../../contract/api/parking.ts'
import { isTerminalPhase, type Task } from '../../contract/resources/task.ts'
import { setCondition } from '../../rules/conditions.ts'
import { type ParkView, parkedCondition, viewParking } from '../../rules/parking.ts'
import type { TaskDecision } from '../../rules/task-decision.ts'
import type { Reconciled } from '../engine/controller.ts'
import { updateChildTasks } from './children.ts'
import { attemptOf, keyOf, type TaskContext } from './context.ts'
import { stopAttempt } from './finish.ts'

async function findEnded(context: TaskContext, { metadata }: Task, waits: readonly ParkWait[]): Promise<Set<string>> {
  const ended = new Set<string>()
  for (const wait of waits) {
    if (wait.kind === 'tasks') {
      for (const { name, uid } of wait.tasks) {
        const task = await context.resources.get('Task', { namespace: metadata.namespace, name })
        if (task?.metadata.uid !== uid || isTerminalPhase(task.status?.phase)) ended.add(uid)
        // One that has not ended is enough to know.
        else break
      }
    }
    if (wait.kind === 'approval' && (await context.records.approvals.get(wait.id))?.status !== 'pending') {
      ended.add(wait.id)
    }
  }
  return ended
}

/** What the live attempt waits for since it ended; undefined when it has not parked. */
export async function observeParking(context: TaskContext, task: Task): Promise<ParkView | undefined> {
  const waits = await context.records.parkings.get(attemptOf(task))
  if (waits === undefined) return undefined
  const ended = await findEnded(context, task, waits)
  return viewParking(waits, { now: context.clock.now(), hasEnded: (id) => ended.has(id) })
}

type ParkDecision = Extract<TaskDecision, { action: 'park' }>

/** Frees the attempt and its place. What it waits for may have come by now, so it is looked at again. */
export async function parkTask(
  context: TaskContext,
  task: Task,
  { reason, message }: ParkDecision,
): Promise<Reconciled> {
  await stopAttempt(context, task)
  const condition = { type: parkedCondition, status: 'True' as const, reason, message }
  await context.recorder.move(
    task,
    { type: 'Parked', phase: 'Running', reason, message },
    {
      message,
      parkings: (task.status?.parkings ?? 0) + 1,
      conditions: setCondition(task.status?.conditions, condition, context.clock.now()),
    },
  )
  context.memory.scheduler.release(keyOf(task))
  return { requeueAfterMs: 0 }
}

export async function restTask(
  context: TaskContext,
  task: Task,
  { lookAgainMs }: Extract<TaskDecision, { action: 'rest' }>,
): Promise<Reconciled> {
  await updateChildTasks(context, task)
  return lookAgainMs === undefined ? undefined : { requeueAfterMs: Math.max(0, lookAgainMs) }
}
