// What a change of a task's status says about its waiting time, running time and retries.
import { isTerminalPhase, type Task, type TaskStatus } from '../../contract/kinds/tasks/task.ts'
import { countsOfIteration } from './iteration.ts'
import { countRuns } from './retry.ts'

export type MeasuredChange = {
  type: Task['spec']['type']
  phase?: NonNullable<TaskStatus['phase']>
  waitedSeconds?: number
  ranSeconds?: number
  retries: number
}

function secondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  if (from === undefined || to === undefined) return undefined
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1000
}

/** Runs of the present iteration after its first that no interruption or wait has caused. */
function retriesOf(status: TaskStatus): number {
  return Math.max(0, countRuns(countsOfIteration({ status })) - 1)
}

function waitOf(task: Task, after: TaskStatus): number | undefined {
  const isFirstStart = (task.status?.attempts ?? 0) === 0 && (after.attempts ?? 0) > 0
  return isFirstStart ? secondsBetween(task.metadata.creationTimestamp, after.startTime) : undefined
}

/** Only what is new in `after`, so that every change is counted once. */
export function measureChange(task: Task, after: TaskStatus): MeasuredChange {
  const before = task.status ?? {}
  const waitedSeconds = waitOf(task, after)
  const retries = Math.max(0, retriesOf(after) - retriesOf(before))
  const measure = { type: task.spec.type, retries, waitedSeconds }
  const { phase, startTime, completionTime } = after
  if (phase === undefined || phase === before.phase) return measure
  const ranSeconds = isTerminalPhase(phase) ? secondsBetween(startTime, completionTime) : undefined
  return { ...measure, phase, ...(ranSeconds === undefined ? {} : { ranSeconds }) }
}
