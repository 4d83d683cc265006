// Autonomous agents: what follows an iteration that succeeded, and how the attempts of iterations are counted.
import type { Agent, Coordination } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { countIterations, explainIterationsUsedUp, explainTimeUsedUp, type TaskBound } from '../budgets/task-budget.ts'
import { findCondition } from '../resources/conditions.ts'
import type { RetryCounts } from './retry.ts'

/** What the newest plan of the task says. */
export type PlanView = { summary: string; goalComplete: boolean }

export type IterationStep =
  | { action: 'succeed'; message: string }
  | { action: 'cancel'; message: string }
  /** A budget of the task is used up. */
  | { action: 'fail'; message: string }
  /** Nothing starts until somebody resumes the task. */
  | { action: 'suspend'; message: string }
  | { action: 'next'; iteration: number; message: string }

/** The coordination of an agent that works in iterations; undefined for every other one. */
export function autonomyOf(agent: Agent | undefined): Coordination | undefined {
  const coordination = agent?.spec.coordination
  return coordination?.enabled === true && coordination.autonomous ? coordination : undefined
}

/** Upper limit of the model calls of one attempt: an iteration has more to do than a plain task. */
export function maxModelCalls(setting: number, agent: Agent | undefined): number {
  return autonomyOf(agent) === undefined ? setting : 2 * setting
}

type Ended = {
  task: Task
  maxIterations: number
  /** Absent: none was saved, or no plans are kept. It never stops the loop. */
  plan?: PlanView | undefined
  /** Why the task is to be cancelled; absent: nobody asked. */
  cancel?: string | undefined
  now: Date
  /** What budgets of the service allow each task; absent: nothing is bounded. */
  bounds?: readonly TaskBound[] | undefined
}

/** What follows the present iteration, which has succeeded. */
export function decideIteration({ task, maxIterations, plan, cancel, now, bounds }: Ended): IterationStep {
  const done = (task.status?.iteration ?? 0) + 1
  if (plan?.goalComplete === true) {
    return { action: 'succeed', message: `goal complete after ${countIterations(done)}: ${plan.summary}` }
  }
  if (maxIterations > 0 && done >= maxIterations) {
    const message = `ended after ${countIterations(done)}, the most that coordination.maxIterations allows; the goal is not noted as complete`
    return { action: 'succeed', message }
  }
  if (cancel !== undefined) return { action: 'cancel', message: cancel }
  const usedUp = explainIterationsUsedUp(task, done, bounds) ?? explainTimeUsedUp(task, now, bounds)
  if (usedUp !== undefined) return { action: 'fail', message: usedUp }
  if (task.spec.suspend) {
    const message = `suspended after ${countIterations(done)}; set spec.suspend to false to go on`
    return { action: 'suspend', message }
  }
  // People and models count from 1.
  return { action: 'next', iteration: done, message: `iteration ${done} is done; iteration ${done + 1} follows` }
}

/** Whether the task waits between two iterations: it is Running, and has no attempt and no slot. */
export function restsBetweenIterations({ status }: Task): boolean {
  return status?.phase === 'Running' && findCondition(status.conditions, 'Suspended')?.status === 'True'
}

/** What the present iteration alone took, which the retry policy counts. */
export function countsOfIteration({ status }: Pick<Task, 'status'>): Required<RetryCounts> {
  const { attempts = 0, interruptions = 0, parkings = 0, sharedLosses = 0 } = status ?? {}
  const earlier = status?.earlierIterations
  return {
    attempts: attempts - (earlier?.attempts ?? 0),
    interruptions: interruptions - (earlier?.interruptions ?? 0),
    parkings: parkings - (earlier?.parkings ?? 0),
    sharedLosses: sharedLosses - (earlier?.sharedLosses ?? 0),
  }
}

/** Whether an attempt belongs to an iteration before the present one. */
export function isOfEarlierIteration({ status }: Task, attempt: number): boolean {
  return attempt <= (status?.earlierIterations?.attempts ?? 0)
}
