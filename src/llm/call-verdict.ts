// What the end of a call says of the provider that was asked: one judgement for the service and its workers.
import type { ModelError, ModelErrorKind } from './messages.ts'

/** The vendor answered; what it found wrong is the request's own. */
const requestFaults: ModelErrorKind[] = ['context_too_long', 'model_not_found', 'invalid_request', 'too_large']

/** Refused here, before anything was sent: a key or a model is missing, a block has no translation. */
function isUnsent({ kind, status }: ModelError): boolean {
  return status === undefined && (kind === 'missing_key' || kind === 'invalid_request')
}

/** Undefined: it says nothing of the provider. */
export function judgeCall(error: ModelError | undefined): 'answered' | 'failed' | undefined {
  if (error === undefined) return 'answered'
  if (error.kind === 'aborted' || isUnsent(error)) return undefined
  return requestFaults.includes(error.kind) ? 'answered' : 'failed'
}
