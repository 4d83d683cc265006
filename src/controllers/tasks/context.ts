// What the steps of a reconcile share.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { spenderOf } from '../../rules/budgets/budget.ts'
import { type TaskBound, timeLeftMs } from '../../rules/budgets/task-budget.ts'
import { parentOf } from '../../rules/tasks/family.ts'
import type { Enqueue, Reconciled } from '../engine/controller.ts'
import { formatKey } from '../engine/key.ts'
import type { TaskMemory } from './memory.ts'
import type { TaskControllerDeps } from './settings.ts'
import type { StatusRecorder } from './status-recorder.ts'

export type TaskContext = TaskControllerDeps & {
  memory: TaskMemory
  recorder: StatusRecorder
  /** Queues another look at a task. */
  enqueue: Enqueue
  /** Hands an ended task to the callback controller. */
  owesCallback: Enqueue
  /** Hands a parked task to the controller that asks for what it waits for. */
  probe: Enqueue
  /** Hands a parked task to the controller that tells the receiver of its callbacks what it asks for. */
  tellApprovals: Enqueue
}

export function keyOf(task: Task): string {
  return formatKey(task.metadata)
}

/** The live attempt of a running task. */
export function attemptOf(task: Task): { taskUid: string; attempt: number } {
  return { taskUid: task.metadata.uid, attempt: task.status?.attempts ?? 0 }
}

/** Tasks of one coordinator are counted together; undefined for others. */
export function siblingsOf(task: Task): string | undefined {
  return task.metadata.labels?.['svc.ai/coordinator'] === 'true' ? parentOf(task)?.uid : undefined
}

/** What budgets allow each task of its namespace, agent and creator. While they cannot be read nothing is bounded. */
export async function readBounds({ spending }: Pick<TaskContext, 'spending'>, task: Task): Promise<TaskBound[]> {
  try {
    return (await spending?.taskBounds(spenderOf(task))) ?? []
  } catch {
    return []
  }
}

/** The platform's timers have 31 bits. */
export const longestTimerMs = 86_400_000

/** For a task that nothing else wakes: another look when the time of its budget is up. */
export async function lookWhenTimeIsUp(context: TaskContext, task: Task): Promise<Reconciled> {
  const left = timeLeftMs(task, context.clock.now(), await readBounds(context, task))
  return left === undefined ? undefined : { requeueAfterMs: Math.min(longestTimerMs, Math.max(0, left)) }
}
