// The neutral conversation, to and from which every vendor's messages are translated.
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The two wire languages. */
export type Family = 'llma' | 'llmo'

/** The vendor's own JSON, sent back unchanged to an upstream of the same family. */
export type Raw = { family: Family; json: JsonObject }

export type TextBlock = { type: 'text'; text: string; raw?: Raw }
/** Sent back to the vendor that made it alone: by its signature (llma), or under the field that had its text (llmo). */
type ThinkingBlock = { type: 'thinking'; text: string; signature?: string; field?: string; raw?: Raw }
type RedactedThinkingBlock = { type: 'redacted_thinking'; data: string; raw?: Raw }
/** `invalidArgs` is the model's text when it was not a JSON object; `args` is empty then. */
export type ToolUseBlock = {
  type: 'tool_use'
  id: string
  name: string
  args: JsonObject
  invalidArgs?: string
  raw?: Raw
}
type ToolResultBlock = { type: 'tool_result'; toolUseId: string; content: string; isError: boolean; raw?: Raw }
/** An image, a document, a vendor's own tool: kept within its family, and not translatable. */
type OpaqueBlock = { type: 'opaque'; label: string; raw: Raw }

export type ContentBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | OpaqueBlock

export type Message = {
  role: 'user' | 'assistant'
  content: ContentBlock[]
  raw?: Raw
  /** Of a model's turn: the vendor that made it (`originOf`). What is its own of the turn goes to nobody else. */
  origin?: string
  /** Fields of the vendor's message that have no neutral form; they go back with the turn. */
  attached?: JsonObject
}

/** `parameters` is a JSON Schema of type object. */
export type ToolSchema = { name: string; description: string; parameters: JsonObject; raw?: Raw }

export type ModelToolChoice = { type: 'auto' | 'any' | 'none' } | { type: 'tool'; name: string }

export type ModelRequest = {
  /** Absent: the model of the provider choice that serves the call. */
  model?: string
  system: TextBlock[]
  messages: Message[]
  tools: ToolSchema[]
  maxTokens?: number
  temperature?: number
  topP?: number
  stopSequences?: string[]
  toolChoice?: ModelToolChoice
  thinking?: { budgetTokens: number }
  /** JSON Schema that the answer must match; sent to vendors that can hold the model to it. */
  outputSchema?: JsonObject
  /**
   * The caller's original request: other fields reach its own family unchanged, and the other one through
   * `crossing.ts`.
   */
  raw?: Raw
  /** The caller's headers for an upstream of the family of `raw` (beta features), by lower-case name. */
  headers?: Record<string, string>
  /** Asks for the answer in one piece: cheaper when nobody reads along. */
  whole?: boolean
}

/**
 * Tokens of one model call. `inputTokens` counts all input; `cachedTokens` is the part of it read from a cache,
 * `cacheWriteTokens` the part that was written to one (absent: none).
 */
export type TokenUsage = { inputTokens: number; outputTokens: number; cachedTokens: number; cacheWriteTokens?: number }

export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'refusal'
  /** The vendor wants the conversation sent back unchanged, to continue. */
  | 'pause'

/** Why a call failed, in words for a user; `retryAfterMs` and `status` come from the vendor. */
export type ModelError = { reason: CallFailure; message: string; retryAfterMs?: number; status?: number }

/**
 * One event of a model's answer. Blocks are numbered from 0 and do not overlap in `llma`; in `llmo` tool calls may
 * interleave. A failure is the last event; otherwise `stop` is.
 */
export type ModelEvent =
  /** `provider` is the `namespace/name` that serves the call; `raw` the vendor's opening frame, or its whole answer. */
  | { type: 'start'; provider?: string; model: string; id?: string; origin?: string; raw?: Raw }
  /** `field`: what the vendor calls its thinking. */
  | { type: 'block_start'; index: number; block: 'text' | 'thinking'; field?: string }
  /** `raw`: what the vendor wants back with the call, as far as it is known. */
  | { type: 'tool_use_start'; index: number; id: string; name: string; raw?: Raw }
  | { type: 'text_delta'; index: number; text: string }
  | { type: 'thinking_delta'; index: number; text: string }
  | { type: 'signature_delta'; index: number; signature: string }
  /** A fragment of the arguments' JSON text. */
  | { type: 'args_delta'; index: number; json: string }
  /** Part of a block that has no neutral form (a citation): only for callers of the same family. */
  | { type: 'raw_delta'; index: number; raw: Raw }
  /** A whole block that is not streamed. */
  | { type: 'block'; index: number; block: RedactedThinkingBlock | OpaqueBlock }
  /** `raw` when the vendor's block contains more than the neutral one (citations, thought signatures). */
  | { type: 'block_stop'; index: number; raw?: Raw }
  /** Fields of the vendor's message that have no neutral form; they go back with the turn. */
  | { type: 'attached'; fields: JsonObject }
  /** Totals of this call so far; replaces the previous event. `raw`: the vendor's own counts. */
  | { type: 'usage'; usage: TokenUsage; raw?: Raw }
  /** `raw`: the vendor's own reason, when that is more specific. */
  | { type: 'stop'; reason: StopReason; stopSequence?: string; raw?: Raw }
  | { type: 'error'; error: ModelError }

/** One finished or broken answer. Exactly one of `stopReason` and `error` is set. */
export type Turn = {
  message: Message
  usage: TokenUsage
  provider?: string
  model?: string
  stopReason?: StopReason
  stopSequence?: string
  error?: ModelError
}

export const noUsage: TokenUsage = Object.freeze({ inputTokens: 0, outputTokens: 0, cachedTokens: 0 })

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const cacheWriteTokens = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0)
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  }
}

export function userText(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

/** The text blocks of a message, joined. */
export function textOf(message: Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

export function toolUsesOf(message: Message): ToolUseBlock[] {
  return message.content.filter((block) => block.type === 'tool_use')
}
