// What is wrong with a part of a request, with its place in the whole.
import type { z } from 'zod'
import { SvcError } from '../../errors.ts'

/** `field`: where in the request the checked part is. */
export function explainProblems({ issues }: z.ZodError, field: string): SvcError {
  const details = issues.map(({ path, message }) => ({ path: [field, ...path].join('.'), message }))
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ')
  return new SvcError('InvalidRequest', message, { details })
}
