// The closed table of error reasons and the one error class. Every error that leaves the service is one of these.

/** Reason (stable, CamelCase; HTTP-003) to HTTP status. A new reason is added here and nowhere else. */
export const errorStatus = {
  InvalidRequest: 400,
  Unauthenticated: 401,
  Forbidden: 403,
  BudgetExceeded: 403,
  NotFound: 404,
  ChatDisabled: 404,
  MethodNotAllowed: 405,
  RequestTimeout: 408,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  TooLarge: 413,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  HeadersTooLarge: 431,
  ClientClosed: 499,
  Internal: 500,
  NotConfigured: 501,
  UpstreamFailed: 502,
  Unavailable: 503,
  StorageFull: 507,
  Overloaded: 529,
} as const

export type ErrorReason = keyof typeof errorStatus

/**
 * Has the reason of an error whose body has another form than ours. Who lies between service and client does not send it.
 */
export const reasonHeader = 'x-svc-reason'

/** Tells clients whether to ask again; the official SDKs and Claude Code heed it before the status. */
export const retryHeader = 'x-should-retry'

/** One problem of a request: `path` is dotted (`spec.retryPolicy.maxRetries`), empty for the whole body. */
export type Problem = { path: string; message: string }

export type ErrorOptions = {
  details?: Problem[]
  /** Sent as `Retry-After`, in seconds. */
  retryAfterSeconds?: number
  /** Whether the same request would fail again, whatever its status makes clients think. */
  lasts?: boolean
  cause?: unknown
}

/** The only error class: a stable reason, a sentence that says what to do, and every problem found. */
export class SvcError extends Error {
  readonly reason: ErrorReason
  readonly details: Problem[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly lasts: boolean

  constructor(reason: ErrorReason, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'SvcError'
    this.reason = reason
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.lasts = options.lasts ?? false
  }

  get status(): number {
    return errorStatus[this.reason]
  }
}

/** True when `error` is a SvcError, of the given reason if one is named. */
export function isSvcError(error: unknown, reason?: ErrorReason): error is SvcError {
  return error instanceof SvcError && (reason === undefined || error.reason === reason)
}

/** What the work comes to; undefined where it fails for one of these reasons. */
export async function ignoring<T>(work: Promise<T>, ...reasons: ErrorReason[]): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isSvcError(error) && reasons.includes(error.reason)) return undefined
    throw error
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
