// Fields of agents that nothing reads: refused with what to use in their place.
import type { AgentSpec } from '../contract/resources/agent.ts'
import type { Problem } from '../errors.ts'

/** Paths are relative to the spec. */
export function findUnread({ rateLimit, session }: AgentSpec): Problem[] {
  const problems: Problem[] = []
  const add = (path: string, message: string) => problems.push({ path, message })
  if (rateLimit !== undefined) add('rateLimit', 'has no effect on an agent; set it on the provider that the agent uses')
  if (session !== undefined) {
    add(
      'session',
      'has no effect; set sessionRef.maxMessages and sessionRef.append on the task, and --session-retention',
    )
  }
  return problems
}
