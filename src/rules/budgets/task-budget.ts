// The budget of one task: what is left of it, and what is said when nothing is.
import type { TaskBudget } from '../../contract/kinds/tasks/execution.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { formatDuration, tryParseDuration } from '../../contract/values/duration.ts'
import { dropUndefined } from '../../lib/json.ts'

/** What a task and the tasks that it created have used; `cost` in the currency of the budget. */
export type TaskSpent = { tokens: number; cost: number }

/** Each present when the budget has such a limit; never below 0. */
export type TaskLeft = {
  tokens?: number
  cost?: number
  durationMs?: number
  iterations?: number
}

export function countIterations(count: number): string {
  return count === 1 ? '1 iteration' : `${count} iterations`
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

/** What a budget allows a single task; without a name it is the task's own. */
export type TaskBound = { name?: string; maxDuration?: string | undefined; maxIterations?: number | undefined }

const none: readonly TaskBound[] = []

function boundsOf({ spec }: Task, others: readonly TaskBound[]): TaskBound[] {
  return spec.budget === undefined ? [...others] : [spec.budget, ...others]
}

/** Milliseconds of a bound until the task's time is up; undefined before it has started. */
function leftOfBound({ maxDuration = '' }: TaskBound, begin: string | undefined, now: Date): number | undefined {
  const max = tryParseDuration(maxDuration)
  return max === undefined || begin === undefined ? undefined : Date.parse(begin) + max - now.getTime()
}

/** Milliseconds until its time is up, below 0 afterwards; undefined before it has started, and without such a limit. */
export function timeLeftMs(task: Task, now: Date, others = none): number | undefined {
  const begin = task.status?.firstStartTime
  const all = boundsOf(task, others).flatMap((bound) => leftOfBound(bound, begin, now) ?? [])
  return all.length === 0 ? undefined : Math.min(...all)
}

function describeBound(what: string, { name }: TaskBound, task: Task): string {
  const whose = name === undefined ? '' : ` "${name}"`
  return `the budget${whose} of ${what} for task "${task.metadata.name}" is used up`
}

function adviseRaise(name: string | undefined, [own, shared]: [own: string, shared: string]): string {
  return `raise its ${name === undefined ? `spec.budget.${own}` : shared} ${again}`
}

/** Why the task must end now; undefined while it has time. */
export function explainTimeUsedUp(task: Task, now: Date, others = none): string | undefined {
  const begin = task.status?.firstStartTime
  const bound = boundsOf(task, others).find((one) => (leftOfBound(one, begin, now) ?? 1) <= 0)
  if (bound === undefined || begin === undefined) return undefined
  const max = formatDuration(tryParseDuration(bound.maxDuration ?? '') ?? 0)
  const used = formatDuration(Math.round((now.getTime() - Date.parse(begin)) / 1000) * 1000)
  const advice = adviseRaise(bound.name, ['maxDuration', 'maxTaskDuration'])
  return `${describeBound(max, bound, task)}: it began ${used} ago; ${advice}`
}

/** Why no further iteration may begin after `done`; undefined while one may. */
export function explainIterationsUsedUp(task: Task, done: number, others = none): string | undefined {
  const bound = boundsOf(task, others).find(({ maxIterations = Number.POSITIVE_INFINITY }) => done >= maxIterations)
  if (bound === undefined) return undefined
  const advice = adviseRaise(bound.name, ['maxIterations', 'maxTaskIterations'])
  const what = countIterations(bound.maxIterations ?? 0)
  return `${describeBound(what, bound, task)} and the goal is not complete; ${advice}`
}

function whatIsLeft(max: number | undefined, used: number): number | undefined {
  return max === undefined ? undefined : Math.max(0, max - used)
}

/** What the task may still take of a bound. */
export function leftWithin(bound: TaskBound, { status }: Task, now: Date): TaskLeft {
  const max = tryParseDuration(bound.maxDuration ?? '')
  const begin = status?.firstStartTime
  return dropUndefined({
    durationMs: max === undefined ? undefined : Math.max(0, leftOfBound(bound, begin, now) ?? max),
    iterations: whatIsLeft(bound.maxIterations, status?.iteration ?? 0),
  })
}

/** What is left of the task's own budget; undefined without one. */
export function leftOf(task: Task, spent: TaskSpent, now: Date): TaskLeft | undefined {
  const budget: TaskBudget | undefined = task.spec.budget
  if (budget === undefined) return undefined
  const tokens = whatIsLeft(budget.maxTokens, spent.tokens)
  return dropUndefined({
    tokens,
    cost: whatIsLeft(budget.maxCost, spent.cost),
    ...leftWithin(budget, task, now),
  })
}
