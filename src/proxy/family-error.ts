// Errors in the form of each family (HTTP-005, HTTP-006): the official clients read status, type and code.
import type { SvcError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ProxyFamily } from './types.ts'

const llmaTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  408: 'invalid_request_error',
  429: 'rate_limit_error',
  431: 'request_too_large',
  529: 'overloaded_error',
}

const llmoTypes: Record<number, string> = {
  ...llmaTypes,
  404: 'invalid_request_error',
  413: 'invalid_request_error',
  431: 'invalid_request_error',
  529: 'server_error',
}

const llmoCodes: Record<number, string> = {
  401: 'invalid_api_key',
  413: 'request_too_large',
  429: 'rate_limit_exceeded',
  431: 'request_too_large',
}

/** By the field that names what is not there. */
const missingCodes: Record<string, string> = {
  model: 'model_not_found',
  previous_response_id: 'previous_response_not_found',
}

/** A message about one field starts with the field's name. */
function paramOf(message: string): string | null {
  return /^([a-z_]+): /.exec(message)?.[1] ?? null
}

export function writeFamilyError(family: ProxyFamily, error: SvcError, requestId: string): JsonObject {
  const { status, message } = error
  if (family === 'llma') {
    const type = llmaTypes[status] ?? 'api_error'
    return { type: 'error', error: { type, message }, request_id: requestId }
  }
  const param = paramOf(message) ?? (status === 404 ? (error.details?.[0]?.path ?? null) : null)
  const code = (status === 404 ? missingCodes[param ?? ''] : llmoCodes[status]) ?? null
  return { error: { message, type: llmoTypes[status] ?? 'server_error', param, code } }
}
