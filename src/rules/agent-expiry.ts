// When an agent with a time to live after its last task is removed.
import { tryParseDuration } from '../contract/duration.ts'

type AgentLife = {
  ttlAfterLastTask?: string | undefined
  createdAt: Date
  lastUsed?: Date | undefined
  activeTasks: number
}

/** Milliseconds until the agent expires: 0 when it has, undefined when it stays. */
export function timeToExpiry(life: AgentLife, now: Date): number | undefined {
  const ttl = tryParseDuration(life.ttlAfterLastTask ?? '0s') ?? 0
  if (ttl === 0 || life.activeTasks > 0) return undefined
  const since = Math.max(life.createdAt.getTime(), life.lastUsed?.getTime() ?? 0)
  return Math.max(0, since + ttl - now.getTime())
}
