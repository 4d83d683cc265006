// What the end of a call says about the provider, and whether it needs a cool-down: one judgement for the service and
// its workers.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import type { CoolDown } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ModelError } from '../messages/messages.ts'

/** Undefined: it says nothing about the provider. A vendor that rejects a request does answer. */
export function judgeCall(error: ModelError | undefined): 'answered' | 'failed' | undefined {
  if (error === undefined) return 'answered'
  const { blames } = ruleOfCall(error.reason)
  if (blames === 'nobody') return undefined
  return blames === 'request' ? 'answered' : 'failed'
}

/** The cool-down after a failed call of the model; undefined: none. */
export function coolDownAfter(error: ModelError, model: string, now: Date): CoolDown | undefined {
  const { rest: coolDown } = ruleOfCall(error.reason)
  if (coolDown === undefined) return undefined
  return {
    ...(coolDown.of === 'model' && model !== '' ? { model } : {}),
    until: new Date(now.getTime() + (error.retryAfterMs ?? coolDown.ms)),
    reason: error.message,
    failure: error.reason,
    asked: error.retryAfterMs !== undefined,
  }
}

/** The error of a call that must not be made; undefined when it may be made. */
export function refuseDuringCoolDown(
  { namespace, name }: ResourceKey,
  coolDown: CoolDown | undefined,
  now: Date,
): ModelError | undefined {
  if (!coolDown?.asked || coolDown.until <= now) return undefined
  return {
    reason: coolDown.failure,
    message: `Provider ${namespace}/${name} asked for a pause: ${coolDown.reason}`,
    retryAfterMs: coolDown.until.getTime() - now.getTime(),
  }
}
