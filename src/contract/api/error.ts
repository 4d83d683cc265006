// The error body of everything but the proxies (HTTP-003).
import { z } from 'zod'
import { type ErrorReason, errorStatus } from '../../errors.ts'

export const ErrorDetail = z
  .object({
    /** `spec.retryPolicy.maxRetries`; empty for the whole body. */
    path: z.string(),
    message: z.string(),
  })
  .meta({ id: 'ErrorDetail' })

export const ErrorBody = z
  .object({
    error: z.object({
      /** The HTTP status. */
      code: z.int(),
      /** Stable word for programs. */
      reason: z.string().meta({ examples: Object.keys(errorStatus) }),
      /** What is wrong and what to do, for people. */
      message: z.string(),
      details: z.array(ErrorDetail).optional(),
      requestId: z.string(),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof ErrorBody>

export type { ErrorReason }
