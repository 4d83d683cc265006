// How much of its session a task is shown.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { SessionRef } from '../../contract/kinds/tasks/task.ts'

/** The agent limits what its tasks may ask for. */
export function limitMessages({ maxMessages }: SessionRef, agent: Agent | undefined): number {
  return Math.min(maxMessages, agent?.spec.session?.maxMessages ?? maxMessages)
}
