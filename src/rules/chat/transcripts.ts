// Messages of a task in its session: how many it reads, and the key under which its own enter, so that they are never added twice.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SessionRef } from '../../contract/kinds/tasks/task.ts'

/** The agent limits what its tasks may ask for. */
export function limitMessages({ maxMessages }: SessionRef, agent: Agent | undefined): number {
  return Math.min(maxMessages, agent?.spec.session?.maxMessages ?? maxMessages)
}

/**
 * For what the service adds when the task ends: its prompt and its outcome. A task that used this key wrote those
 * itself.
 */
export const outcomeWord = 'outcome'

/** The key includes the task: two tasks with the same word do not hide each other's messages. */
export function makeTranscriptWord(taskUid: string, word: string): string {
  return `${taskUid}:${word}`
}

/** The key for counting a task's tokens in its session once; it never collides with a task's own word. */
export function makeUsageWord(taskUid: string): string {
  return `usage:${taskUid}`
}
