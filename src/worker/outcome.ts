// How a run ends, and how the program says so.

/** Stable words for the cause of a failed run; the message is for people. */
export type FailureCause =
  | 'InvalidAssignment'
  | 'UnsupportedTask'
  | 'MissingApiKey'
  | 'CredentialRefused'
  | 'ModelNotFound'
  | 'ProviderUnreachable'
  | 'RateLimited'
  | 'ProviderOverloaded'
  | 'ProviderFailed'
  | 'ContextTooLong'
  | 'RequestRefused'
  | 'ModelRefused'
  | 'OutputLimit'
  | 'EmptyAnswer'
  | 'DeadlineExceeded'
  | 'Superseded'
  | 'ServiceUnavailable'
  | 'Stopped'
  | 'Internal'

/** The last line on descriptor 3. */
export type Outcome = { ok: true } | { ok: false; reason: FailureCause; message: string }

export function failRun(reason: FailureCause, message: string): Outcome {
  return { ok: false, reason, message }
}
