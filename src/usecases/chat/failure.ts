// Why a turn failed.
import { ruleOfCall } from '../../contract/failures.ts'
import { SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop-state.ts'
import type { ModelError } from '../../llm/messages.ts'

export function toFailure({ reason, message, retryAfterMs }: ModelError): SvcError {
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }
  return new SvcError(ruleOfCall(reason).error, `chat error: ${message}`, retry)
}

/** The failure that a run ended with; undefined when it has an answer, if a short one. */
export function failureOf({ finished }: LoopState, wasCancelled: boolean): SvcError | undefined {
  if (finished?.reason === 'error') {
    return toFailure(finished.error ?? { reason: 'Internal', message: 'the model gave no answer' })
  }
  if (finished?.reason !== 'cancelled') return undefined
  return wasCancelled
    ? new SvcError('Conflict', 'the turn was cancelled')
    : new SvcError('ClientClosed', 'the client went away before the turn was over')
}
