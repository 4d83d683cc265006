// Results that the loop itself writes: structured errors, and truncated outputs.
import { isSvcError, messageOf } from '../../errors.ts'
import type { ToolResult } from './tool-host.ts'

type ToolErrorType =
  | 'invalid_arguments'
  | 'not_found'
  | 'not_configured'
  | 'forbidden'
  | 'timeout'
  | 'unavailable'
  | 'outcome_unknown'
  | 'too_many_calls'
  | 'internal'

export type ToolFailure = { error: string; errorType: ToolErrorType; suggestion: string }

/** A failure as the model reads it (LLMA-036). */
export function failTool(failure: ToolFailure): ToolResult {
  return { content: JSON.stringify({ success: false, ...failure }), isError: true }
}

const byReason: Partial<Record<string, Omit<ToolFailure, 'error'>>> = {
  InvalidRequest: { errorType: 'invalid_arguments', suggestion: 'Correct the arguments and call the tool again.' },
  Forbidden: { errorType: 'forbidden', suggestion: 'This is not allowed here. Find another way.' },
  NotFound: { errorType: 'not_found', suggestion: 'Check the name, or list what there is first.' },
  NotConfigured: { errorType: 'not_configured', suggestion: 'This tool cannot run here. Go on without it.' },
  UpstreamFailed: { errorType: 'unavailable', suggestion: 'Try again later, or another way.' },
  Unavailable: { errorType: 'unavailable', suggestion: 'Try again later, or another way.' },
  TooManyRequests: { errorType: 'unavailable', suggestion: 'Wait a moment before you call it again.' },
}

/** Turns anything that a tool threw into a result. */
export function failThrown(error: unknown): ToolResult {
  const known = isSvcError(error) ? byReason[error.reason] : undefined
  const advice = known ?? {
    errorType: 'internal' as const,
    suggestion: 'Check the arguments, or try another way.',
  }
  return failTool({ error: messageOf(error), ...advice })
}

/** Cuts at a character boundary within `maxBytes` of UTF-8 and says how much was cut (BUILT-028). */
export function cutOutput(content: string, maxBytes: number): string {
  const total = Buffer.byteLength(content)
  if (total <= maxBytes) return content
  const bytes = Buffer.from(content)
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}\n[output cut: the first ${end} of ${total} bytes are shown]`
}
