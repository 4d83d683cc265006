// What the failure of a model call is in the service's own reasons: an upstream's error keeps its meaning.
import type { ErrorReason } from '../errors.ts'
import type { ModelErrorKind } from '../llm/messages.ts'

export const reasonOfModelError: Readonly<Record<ModelErrorKind, ErrorReason>> = {
  // The provider's credential was refused, not the caller's.
  auth: 'UpstreamFailed',
  missing_key: 'UpstreamFailed',
  rate_limited: 'TooManyRequests',
  overloaded: 'Overloaded',
  context_too_long: 'TooLarge',
  model_not_found: 'NotFound',
  invalid_request: 'InvalidRequest',
  too_large: 'TooLarge',
  network: 'UpstreamFailed',
  interrupted: 'UpstreamFailed',
  server: 'UpstreamFailed',
  aborted: 'ClientClosed',
}
