// What is wrong with a part of a request, with its place in the whole.
import type { z } from 'zod'
import { explainIssue } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'

/** The request names something that only the vendor has; another way of sending it may be open. */
export class StoredAtVendor extends SvcError {
  constructor(message: string) {
    super('InvalidRequest', message)
  }
}

/** `field`: where in the request the checked part is. */
export function explainVendorProblems({ issues }: z.ZodError, field: string): SvcError {
  const details = issues.map((issue) => ({ path: [field, ...issue.path].join('.'), message: explainIssue(issue) }))
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ')
  return new SvcError('InvalidRequest', message, { details })
}
