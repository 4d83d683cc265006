// Why a turn failed.
import { SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop-state.ts'
import type { ModelError } from '../../llm/messages.ts'
import { reasonOfModelError } from '../model-failure.ts'

export function toFailure({ kind, message, retryAfterMs }: ModelError): SvcError {
  const retry = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }
  return new SvcError(reasonOfModelError[kind], `chat error: ${message}`, retry)
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
