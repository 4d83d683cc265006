// How the failure of a model call is reported to the client (PROXY-017..021).
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { SvcError } from '../../errors.ts'
import type { ModelError } from '../../llm/messages/messages.ts'

/** How long the client should wait: what the vendor says, else the remaining cool-down. Absent: no recommendation. */
export function retrySecondsOf({ reason, retryAfterMs }: ModelError): number | undefined {
  const { rest, again } = ruleOfCall(reason)
  return rest === undefined || !again ? undefined : Math.max(1, Math.ceil((retryAfterMs ?? rest.ms) / 1000))
}

export function explainModelError(error: ModelError): SvcError {
  const retryAfterSeconds = retrySecondsOf(error)
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return new SvcError(ruleOfCall(error.reason).error, error.message, retry)
}
