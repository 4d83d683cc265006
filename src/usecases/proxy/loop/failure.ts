// What the failure of a model call is to the caller of a proxy (PROXY-017..021).
import { ruleOfCall } from '../../../contract/failures.ts'
import { SvcError } from '../../../errors.ts'
import type { ModelError } from '../../../llm/messages.ts'

/** Clients wait for what `Retry-After` says; without a word of the vendor, for as long as the provider rests. */
export function explainModelError({ reason, message, retryAfterMs }: ModelError): SvcError {
  const { error, rest, again } = ruleOfCall(reason)
  if (rest === undefined || !again) return new SvcError(error, message)
  return new SvcError(error, message, { retryAfterSeconds: Math.ceil((retryAfterMs ?? rest.ms) / 1000) })
}
