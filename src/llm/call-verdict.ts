// What the end of a call says of the provider that was asked: one judgement for the service and its workers.
import { ruleOfCall } from '../contract/failures.ts'
import type { ModelError } from './messages.ts'

/** Undefined: it says nothing of the provider. A vendor that finds fault with a request answers. */
export function judgeCall(error: ModelError | undefined): 'answered' | 'failed' | undefined {
  if (error === undefined) return 'answered'
  const { blames } = ruleOfCall(error.reason)
  if (blames === 'nobody') return undefined
  return blames === 'request' ? 'answered' : 'failed'
}
