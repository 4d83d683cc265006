// What the failure of a model call is to the caller of a proxy (PROXY-017..021).
import { type ErrorReason, SvcError } from '../../../errors.ts'
import type { ModelError, ModelErrorKind } from '../../../llm/messages.ts'

const reasons: Record<ModelErrorKind, ErrorReason> = {
  // The provider's credential was refused, not the caller's.
  auth: 'UpstreamFailed',
  missing_key: 'UpstreamFailed',
  rate_limited: 'TooManyRequests',
  overloaded: 'Overloaded',
  context_too_long: 'InvalidRequest',
  model_not_found: 'NotFound',
  invalid_request: 'InvalidRequest',
  too_large: 'TooLarge',
  network: 'UpstreamFailed',
  interrupted: 'UpstreamFailed',
  server: 'UpstreamFailed',
  aborted: 'ClientClosed',
}

/** Clients wait for what `Retry-After` says; without a word of the vendor, so long. */
const defaultRetrySeconds = 5

export function explainModelError({ kind, message, retryAfterMs }: ModelError): SvcError {
  const isPassing = kind === 'rate_limited' || kind === 'overloaded'
  const seconds = retryAfterMs === undefined ? defaultRetrySeconds : Math.ceil(retryAfterMs / 1000)
  return new SvcError(reasons[kind], message, isPassing ? { retryAfterSeconds: seconds } : {})
}
