// What the failure of a model call is to the caller of a proxy (PROXY-017..021).
import { SvcError } from '../../../errors.ts'
import type { ModelError } from '../../../llm/messages.ts'
import { reasonOfModelError } from '../../model-failure.ts'

/** The vendors answer 400 to a conversation that is too long. */
const reasons = { ...reasonOfModelError, context_too_long: 'InvalidRequest' } as const

/** Clients wait for what `Retry-After` says; without a word of the vendor, so long. */
const defaultRetrySeconds = 5

export function explainModelError({ kind, message, retryAfterMs }: ModelError): SvcError {
  const isPassing = kind === 'rate_limited' || kind === 'overloaded'
  const seconds = retryAfterMs === undefined ? defaultRetrySeconds : Math.ceil(retryAfterMs / 1000)
  return new SvcError(reasons[kind], message, isPassing ? { retryAfterSeconds: seconds } : {})
}
