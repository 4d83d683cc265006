// The error body of all routes except the proxies (HTTP-003).

import { z } from 'zod'
import { type ErrorReason, errorStatus } from '../../../errors.ts'
import { field } from '../../schema/field.ts'

/** One problem of a request. */
export const ErrorDetail = z
  .object({
    path: field(z.string(), 'Field that is wrong; empty for the whole body.', 'spec.retryPolicy.maxRetries'),
    message: field(z.string(), 'What is wrong with it.', 'must be at most 100'),
  })
  .meta({ id: 'ErrorDetail' })

/** The form of every error that the service returns. */
export const ErrorBody = z
  .object({
    error: field(
      z.object({
        code: field(z.int(), 'HTTP status.', 400),
        reason: field(z.string().meta({ examples: Object.keys(errorStatus) }), 'Why, as one stable word for programs.'),
        message: field(z.string(), 'What is wrong and what to do, for people.', 'spec.type is required'),
        details: field(z.array(ErrorDetail).optional(), 'Every problem of the request.'),
        requestId: field(
          z.string(),
          'Id of the request, to look for in the logs.',
          '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
        ),
      }),
      'What went wrong.',
    ),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof ErrorBody>

export type { ErrorReason }
