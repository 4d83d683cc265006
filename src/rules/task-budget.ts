// The budget of one task: what is left of it, and what is said when nothing is.
import { formatDuration, tryParseDuration } from '../contract/duration.ts'
import type { Task } from '../contract/resources/task.ts'
import type { TaskBudget } from '../contract/resources/task-budget.ts'

/** What a task and the tasks that it created have used; `cost` in the currency of the budget. */
export type TaskSpent = { tokens: number; cost: number }

/** Each present when the budget has such a limit; never below 0. */
export type TaskLeft = {
  tokens?: number
  cost?: number
  durationMs?: number
  iterations?: number
}

const again = 'and start it again'

/** Whether the task has a budget of tokens or money. A schedule has none: its runs do. */
export function countsSpending({ spec }: Task): boolean {
  if (spec.schedule !== undefined) return false
  return spec.budget?.maxTokens !== undefined || spec.budget?.maxCost !== undefined
}

/** Why no further model call may be made on this budget; undefined while one may. */
export function explainSpent({ metadata, spec }: Task, { tokens, cost }: TaskSpent): string | undefined {
  const { maxTokens, maxCost, currency } = spec.budget ?? {}
  const of = `for task "${metadata.name}" and the tasks that it created is used up`
  if (maxTokens !== undefined && tokens >= maxTokens) {
    return `the budget of ${maxTokens} tokens ${of}: ${tokens} were used; raise its spec.budget.maxTokens ${again}`
  }
  if (maxCost !== undefined && cost >= maxCost) {
    const used = Number(cost.toFixed(4))
    return `the budget of ${maxCost} ${currency} ${of}: ${used} ${currency} were used; raise its spec.budget.maxCost ${again}`
  }
  return undefined
}

/** Milliseconds until its time is up, below 0 afterwards; undefined before it has started, and without such a limit. */
export function timeLeftMs({ spec, status }: Task, now: Date): number | undefined {
  const most = tryParseDuration(spec.budget?.maxDuration ?? '')
  const begin = status?.firstStartTime
  return most === undefined || begin === undefined ? undefined : Date.parse(begin) + most - now.getTime()
}

/** Why the task must end now; undefined while it has time. */
export function explainTimeUsedUp(task: Task, now: Date): string | undefined {
  const left = timeLeftMs(task, now)
  if (left === undefined || left > 0) return undefined
  const most = tryParseDuration(task.spec.budget?.maxDuration ?? '') ?? 0
  const used = formatDuration(Math.round((most - left) / 1000) * 1000)
  return `the budget of ${formatDuration(most)} for task "${task.metadata.name}" is used up: it began ${used} ago; raise its spec.budget.maxDuration ${again}`
}

/** Why no further iteration may begin after `done`; undefined while one may. */
export function explainIterationsUsedUp({ metadata, spec }: Task, done: number): string | undefined {
  const most = spec.budget?.maxIterations
  if (most === undefined || done < most) return undefined
  return `the budget of ${most} iterations for task "${metadata.name}" is used up: ${done} were done and the goal is not complete; raise its spec.budget.maxIterations ${again}`
}

function whatIsLeft(most: number | undefined, used: number): number | undefined {
  return most === undefined ? undefined : Math.max(0, most - used)
}

/** What is left of the budget; undefined without one. */
export function leftOf(task: Task, spent: TaskSpent, now: Date): TaskLeft | undefined {
  const budget: TaskBudget | undefined = task.spec.budget
  if (budget === undefined) return undefined
  const most = tryParseDuration(budget.maxDuration ?? '')
  const done = task.status?.iteration ?? 0
  const left = {
    tokens: whatIsLeft(budget.maxTokens, spent.tokens),
    cost: whatIsLeft(budget.maxCost, spent.cost),
    durationMs: most === undefined ? undefined : Math.max(0, timeLeftMs(task, now) ?? most),
    iterations: whatIsLeft(budget.maxIterations, done),
  }
  return Object.fromEntries(Object.entries(left).filter(([, value]) => value !== undefined))
}
