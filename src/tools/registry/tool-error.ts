// The closed table of tool error types, and the structured result that a failing tool gives a model (ERR-001..005).
import { type ErrorReason, isSvcError, messageOf } from '../../errors.ts'

/** Each type with what a model should do when a tool has no better advice. */
const toolErrorAdvice = {
  not_found: 'Check the name or path and call again.',
  invalid_arguments: 'Correct the named arguments and call again.',
  forbidden: 'This is not allowed here; do without it or ask the user.',
  not_configured: 'Go on without this tool and say so in the answer.',
  timeout: 'Ask for less at once, or go on without it.',
  too_large: 'Ask for less at once.',
  conflict: 'Read the current state and decide again.',
  rate_limited: 'Wait before calling again.',
  upstream_error: 'The other side failed; try once more or go on without it.',
  unavailable: 'Try again later or go on without it.',
  cancelled: 'The run is ending; do not call again.',
  limit_reached: 'Do without it and say so in the answer.',
  missing_workspace: 'Name the repository in workspace.gitRepo and call again.',
  internal: 'Go on without this tool and say so in the answer.',
} as const

export type ToolErrorType = keyof typeof toolErrorAdvice

export type ToolFailure = { success: false; error: string; errorType: ToolErrorType; suggestion: string }

const typeOfReason: Record<ErrorReason, ToolErrorType> = {
  InvalidRequest: 'invalid_arguments',
  Unauthenticated: 'forbidden',
  Forbidden: 'forbidden',
  BudgetExceeded: 'forbidden',
  NotFound: 'not_found',
  ChatDisabled: 'not_configured',
  MethodNotAllowed: 'invalid_arguments',
  RequestTimeout: 'timeout',
  HeadersTooLarge: 'invalid_arguments',
  AlreadyExists: 'conflict',
  Conflict: 'conflict',
  Expired: 'conflict',
  TooLarge: 'too_large',
  UnsupportedMediaType: 'invalid_arguments',
  TooManyRequests: 'rate_limited',
  ClientClosed: 'cancelled',
  Internal: 'internal',
  NotConfigured: 'not_configured',
  UpstreamFailed: 'upstream_error',
  Unavailable: 'unavailable',
  StorageFull: 'unavailable',
  Overloaded: 'rate_limited',
}

export function failTool(errorType: ToolErrorType, error: string, suggestion?: string): ToolFailure {
  return { success: false, error, errorType, suggestion: suggestion ?? toolErrorAdvice[errorType] }
}

/** What a thrown error means to a model. */
export function explainToolError(error: unknown): ToolFailure {
  if (isSvcError(error)) return failTool(typeOfReason[error.reason], error.message)
  return failTool('internal', `the tool broke: ${messageOf(error)}`)
}
