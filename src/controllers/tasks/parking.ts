// Parked tasks: nothing of them runs, and they hold no place, until what they wait for has come.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import { type ParkView, parkedCondition, viewParking } from '../../rules/tasks/parking.ts'
import type { TaskDecision } from '../../rules/tasks/task-decision.ts'
import type { Reconciled } from '../engine/controller.ts'
import { updateChildTasks } from './children.ts'
import { attemptOf, keyOf, type TaskContext } from './context.ts'
import { stopAttempt } from './finish.ts'
import { findProbed } from './parked.ts'

type TasksWait = Extract<ParkWait, { kind: 'tasks' }>

/** Those at the beginning of the list that have ended: one that has not is enough to know. */
async function findEndedTasks({ resources }: TaskContext, namespace: string, { tasks }: TasksWait): Promise<string[]> {
  const ended: string[] = []
  for (const { name, uid } of tasks) {
    const task = await resources.get('Task', { namespace, name })
    if (task?.metadata.uid === uid && !isTerminalPhase(task.status?.phase)) return ended
    ended.push(uid)
  }
  return ended
}

/** Uids of tasks, ids of approvals, and calls. */
async function findEnded(context: TaskContext, task: Task, wait: ParkWait): Promise<string[]> {
  switch (wait.kind) {
    case 'tasks':
      return await findEndedTasks(context, task.metadata.namespace, wait)
    case 'approval': {
      const approval = await context.records.approvals.get(wait.id)
      return approval?.status === 'pending' ? [] : [wait.id]
    }
    case 'probe':
      return [...(findProbed(context.memory.probed, keyOf(task), attemptOf(task))?.arrived ?? [])]
    case 'time':
      return []
  }
}

/** What the live attempt waits for since it ended; undefined when it has not parked. */
export async function observeParking(context: TaskContext, task: Task): Promise<ParkView | undefined> {
  const waits = await context.records.parkings.get(attemptOf(task))
  if (waits === undefined) return undefined
  const found = await Promise.all(waits.map((wait) => findEnded(context, task, wait)))
  const ended = new Set(found.flat())
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
  { lookAgainMs, isProbed }: Extract<TaskDecision, { action: 'rest' }>,
): Promise<Reconciled> {
  if (isProbed) context.probe(keyOf(task))
  if (task.spec.webhookURL !== undefined) context.tellApprovals(keyOf(task))
  await updateChildTasks(context, task)
  return lookAgainMs === undefined ? undefined : { requeueAfterMs: Math.max(0, lookAgainMs) }
}
