// Why a turn failed.
import { SvcError } from '../../errors.ts'
import type { LoopState } from '../../llm/loop-state.ts'
import type { ModelError } from '../../llm/messages.ts'
import { explainModelError } from '../providers/failure.ts'

export function toFailure(error: ModelError): SvcError {
  return explainModelError({ ...error, message: `chat error: ${error.message}` })
}

/** The failure that a run ended with; undefined when it has an answer, even a short one. */
export function failureOf({ finished }: LoopState, wasCancelled: boolean): SvcError | undefined {
  if (finished?.reason === 'error') {
    return toFailure(finished.error ?? { reason: 'Internal', message: 'the model gave no answer' })
  }
  if (finished?.reason !== 'cancelled') return undefined
  return wasCancelled
    ? new SvcError('Conflict', 'the turn was cancelled')
    : new SvcError('ClientClosed', 'the client disconnected before the turn ended')
}
