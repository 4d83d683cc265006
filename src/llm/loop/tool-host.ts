// The tools that a loop can call, whoever runs them (the worker, chat or a proxy), and the results that the loop itself writes:
// structured errors, and truncated outputs.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { headOfText } from '../../lib/utf8.ts'
import type { ToolSchema } from '../messages/messages.ts'

export type HostTool = ToolSchema & {
  /** May run again when it is unknown whether it ran: true only for calls without side effects. */
  repeatable: boolean
  /** Its own parameters limit the output; the limit of 64 KiB does not apply (BUILT-029). */
  ownsOutputLimit?: boolean
  /** Its own time limit, in addition to the loop's (`LoopLimits`). */
  timeoutMs?: number
  /** The caller of the loop runs it (a proxy client's own tool): the loop ends when the model calls it. */
  external?: boolean
}

export type ToolCall = { id: string; name: string; args: JsonObject }

/** A call as the host gets it. */
export type HostedCall = ToolCall & {
  /** How many turns the run had before; with the id it names one call of a whole run. */
  turn?: number
  /** The step that it is in the trace of the run. */
  step?: string | undefined
  /** What the call has waited for before the run went on. */
  waited?: ParkWait | undefined
}

export type ToolResult = { content: string; isError: boolean }

/** A call has no answer yet: the run ends for now, and makes the call again once the wait is over. */
export type ToolWait = { wait: ParkWait }

export interface ToolHost {
  /** The tools offered to the model; the same list for a whole run. */
  list(): HostTool[]
  /** Runs one call. May throw: the loop turns that into a structured result. Must stop when the signal aborts. */
  call(call: HostedCall, signal: AbortSignal): Promise<ToolResult | ToolWait>
}

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

type ToolFailure = { error: string; errorType: ToolErrorType; suggestion: string }

/** A failure as the model reads it (LLMA-036). */
export function failToolCall(failure: ToolFailure): ToolResult {
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
  return failToolCall({ error: messageOf(error), ...advice })
}

/** Cuts at a character boundary within `maxBytes` of UTF-8 and says how much was cut (BUILT-028). */
export function cutOutput(content: string, maxBytes: number): string {
  const { text, dropped } = headOfText(content, maxBytes)
  if (dropped === 0) return content
  const shown = Buffer.byteLength(text)
  return `${text}\n[output cut: the first ${shown} of ${shown + dropped} bytes are shown]`
}
