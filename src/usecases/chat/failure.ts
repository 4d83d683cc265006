// Why a turn failed, in the service's own reasons: an upstream's error keeps its meaning.
import { type ErrorReason, SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop-state.ts'
import type { ModelError, ModelErrorKind } from '../../llm/messages.ts'

const reasonOfKind: Record<ModelErrorKind, ErrorReason> = {
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

export function toFailure({ kind, message, retryAfterMs }: ModelError): SvcError {
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }
  return new SvcError(reasonOfKind[kind], `chat error: ${message}`, retry)
}

/** The failure that a run ended with; undefined when it has an answer, if a short one. */
export function failureOf({ finished }: LoopState, wasCancelled: boolean): SvcError | undefined {
  if (finished?.reason === 'error') {
    return toFailure(finished.error ?? { kind: 'server', message: 'the model gave no answer' })
  }
  if (finished?.reason !== 'cancelled') return undefined
  return wasCancelled
    ? new SvcError('Conflict', 'the turn was cancelled')
    : new SvcError('ClientClosed', 'the client went away before the turn was over')
}
