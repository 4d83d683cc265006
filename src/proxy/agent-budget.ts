// An agent's token is good while its attempt runs, and until its budget is used up.
import { SvcError } from '../errors.ts'
import type { AgentGrant } from '../ports/identity.ts'
import type { Ports } from '../ports/index.ts'
import { countAll } from '../usecases/providers/estimated-tokens.ts'
import { requireLiveAttempt } from '../usecases/worker/live-attempt.ts'
import type { UsageMeter } from './usage-meter.ts'

/**
 * Forbidden when the attempt has ended or its budget is gone. What runs at the same time is not known yet: a call that was begun
 * within the budget is finished.
 */
export async function requireBudget(ports: Ports, meter: UsageMeter, agent: AgentGrant): Promise<void> {
  await requireLiveAttempt(ports.resources, agent)
  const written = await ports.records.usage.ofTask(agent.taskUid)
  const spent = countAll(written ?? {}) + meter.unwrittenOf(agent.taskUid)
  if (spent < agent.maxTokens) return
  throw new SvcError('Forbidden', `the budget of ${agent.maxTokens} tokens of task "${agent.taskName}" is used up`)
}
