// An attempt that cannot start yet shows the reason in its task's status, which is only written when it changes.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { redactText } from '../../observability/redaction.ts'
import { dropConditions, findCondition, setCondition } from '../../rules/resources/conditions.ts'
import { isResumed } from '../../rules/tasks/parking.ts'
import { type HeldUp, waitingCondition } from '../../rules/tasks/task-decision.ts'
import { attemptOf, type TaskContext } from './context.ts'

/** Reports what the attempt waits for (TASK-041). */
export async function noteHeldUp(context: TaskContext, task: Task, { reason, message }: HeldUp): Promise<Task> {
  const shown = redactText(message)
  if (findCondition(task.status?.conditions, waitingCondition)?.message === shown) return task
  const condition = { type: waitingCondition, status: 'True' as const, reason, message: shown }
  const conditions = setCondition(task.status?.conditions, condition, context.clock.now())
  return await context.recorder.write(task, { message: shown, conditions })
}

/** A delayed attempt is running now: its time limit counts from here. */
export async function noteBegun(context: TaskContext, task: Task, startedAt: Date): Promise<Task> {
  if (findCondition(task.status?.conditions, waitingCondition) === undefined) return task
  return await context.recorder.write(task, {
    message: `attempt ${attemptOf(task).attempt} runs`,
    ...(!isResumed(task) && { startTime: startedAt.toISOString() }),
    conditions: dropConditions(task.status?.conditions, waitingCondition),
  })
}
