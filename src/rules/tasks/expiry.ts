// When an ended task is deleted with all its records, and when an unused agent is removed.
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { callbackDue } from './callback.ts'

/**
 * Milliseconds until the task is to be deleted: 0 when it is due, undefined when it stays. `usualMs` applies to tasks
 * without a setting of their own; undefined keeps them. A task that owes a callback stays until that is delivered or
 * given up.
 */
export function timeToRemoval(task: Task, now: Date, usualMs?: number): number | undefined {
  const { metadata, spec, status } = task
  if (!isTerminalPhase(status?.phase) || callbackDue(task)) return undefined
  const retentionMs = spec.ttlSecondsAfterFinished === undefined ? usualMs : spec.ttlSecondsAfterFinished * 1000
  if (retentionMs === undefined) return undefined
  const end = Date.parse(status?.completionTime ?? metadata.creationTimestamp)
  return Math.max(0, end + retentionMs - now.getTime())
}

type AgentLife = {
  ttlAfterLastTask?: string | undefined
  createdAt: Date
  lastUsed?: Date | undefined
  activeTasks: number
}

/** Milliseconds until an agent with a time to live expires: 0 when it has, undefined when it stays. */
export function timeToExpiry(life: AgentLife, now: Date): number | undefined {
  const ttl = tryParseDuration(life.ttlAfterLastTask ?? '0s') ?? 0
  if (ttl === 0 || life.activeTasks > 0) return undefined
  const since = Math.max(life.createdAt.getTime(), life.lastUsed?.getTime() ?? 0)
  return Math.max(0, since + ttl - now.getTime())
}
