// Neutral to llma: answers, whole and as frames. The inverse of decode.
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type AnswerEncoder, type EncoderOptions, rawOf, type WholeAnswer } from '../messages/answer.ts'
import {
  type ContentBlock,
  type ModelEvent,
  noUsage,
  type Raw,
  type StopReason,
  type TokenUsage,
  type ToolUseBlock,
} from '../messages/messages.ts'

const stopWords: Record<StopReason, string> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  pause: 'pause_turn',
}

type Event<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>

function frame(type: string, json: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...json })}\n\n`
}

/** This family counts tokens that were read from a cache or written to one separately. Zero is no count of the input. */
function encodeUsage(usage: TokenUsage, raw: Raw | undefined, { estimatedInput = 0 }: EncoderOptions): JsonObject {
  const own = rawOf('llma', raw)
  if (own?.input_tokens !== undefined) return own
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
  return {
    ...own,
    input_tokens: inputTokens === 0 ? estimatedInput : Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    ...(cachedTokens > 0 && { cache_read_input_tokens: cachedTokens }),
    ...(cacheWriteTokens > 0 && { cache_creation_input_tokens: cacheWriteTokens }),
    output_tokens: outputTokens,
  }
}

/** The words that clients of the vendor know. */
const knownStops = [...Object.values(stopWords), 'model_context_window_exceeded', 'compaction']

function encodeStop(reason: StopReason, sequence: string | undefined, raw: Raw | undefined): JsonObject {
  const own = rawOf('llma', raw)
  const word = knownStops.find((known) => known === own?.stop_reason && reason !== 'tool_use') ?? stopWords[reason]
  return { stop_sequence: sequence ?? null, ...own, stop_reason: word }
}

function encodeOpening(start: Event<'start'>, usage: JsonObject, options: EncoderOptions): JsonObject {
  const own = rawOf('llma', start.raw)
  return {
    ...own,
    id: own?.id ?? options.id,
    type: 'message',
    role: 'assistant',
    model: start.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0, ...usage },
  }
}

function openBlock(index: number, block: JsonObject): string {
  return frame('content_block_start', { index, content_block: block })
}

function extendBlock(index: number, delta: JsonObject): string {
  return frame('content_block_delta', { index, delta })
}

/** The same for text, which most frames are: only the differing part is built. */
function writeText(index: number, text: string): string {
  const delta = `{"type":"text_delta","text":${JSON.stringify(text)}}`
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`
}

const emptyBlocks = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
} as const

function encodeWholeBlock({ index, block }: Event<'block'>): string {
  const json = block.type === 'opaque' ? rawOf('llma', block.raw) : { type: block.type, data: block.data }
  return json === undefined ? '' : openBlock(index, json) + frame('content_block_stop', { index })
}

function encodeBlockEvent(event: Extract<ModelEvent, { index: number }>): string {
  const { index } = event
  switch (event.type) {
    case 'block_start':
      return openBlock(index, emptyBlocks[event.block])
    case 'tool_use_start':
      return openBlock(index, { type: 'tool_use', id: event.id, name: event.name, input: {} })
    case 'text_delta':
      return writeText(index, event.text)
    case 'thinking_delta':
      return extendBlock(index, { type: 'thinking_delta', thinking: event.text })
    case 'signature_delta':
      return extendBlock(index, { type: 'signature_delta', signature: event.signature })
    case 'args_delta':
      return extendBlock(index, { type: 'input_json_delta', partial_json: event.json })
    case 'raw_delta':
      return event.raw.family === 'llma' ? extendBlock(index, event.raw.json) : ''
    case 'block':
      return encodeWholeBlock(event)
    case 'block_stop':
      return frame('content_block_stop', { index })
  }
}

export function createAnswerEncoder(options: EncoderOptions): AnswerEncoder {
  let start: Event<'start'> | undefined
  let usage: JsonObject = encodeUsage(noUsage, undefined, options)

  /** Held back until the event after it, which counts the input. */
  function open(): string {
    if (start === undefined) return ''
    const message = encodeOpening(start, usage, options)
    start = undefined
    return frame('message_start', { message })
  }

  function close(stop: Event<'stop'>): string {
    const delta = encodeStop(stop.reason, stop.stopSequence, stop.raw)
    const counts = { input_tokens: 0, output_tokens: 0, ...usage }
    return `${open()}${frame('message_delta', { delta, usage: counts })}${frame('message_stop', {})}`
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          start = event
          return ''
        case 'usage':
          usage = encodeUsage(event.usage, event.raw, options)
          return open()
        case 'stop':
          return close(event)
        case 'error':
        case 'attached':
          return ''
        default:
          return open() + encodeBlockEvent(event)
      }
    },
    fail: (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
    heartbeat: frame('ping', {}),
  }
}

function encodeBlock(block: ContentBlock): JsonObject[] {
  const own = rawOf('llma', block.raw)
  if (own !== undefined) return [own]
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }]
    case 'thinking':
      return [{ type: 'thinking', thinking: block.text, signature: block.signature ?? '' }]
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: block.data }]
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: requireArgs(block) }]
    default:
      return []
  }
}

/** This family has no form for arguments that are no JSON object, and without arguments the call would be another one. */
function requireArgs({ name, args, invalidArgs }: ToolUseBlock): JsonObject {
  if (invalidArgs === undefined) return args
  throw new SvcError(
    'UpstreamFailed',
    `The model called the tool "${name}" with arguments that are not a JSON object: ${invalidArgs.slice(0, 200)}`,
  )
}

/** A call that was cut off is no call; the stop reason says that something is missing. */
function withoutCutCall({ content, stopReason }: WholeAnswer): ContentBlock[] {
  if (stopReason !== 'max_tokens') return content
  return content.filter((block) => block.type !== 'tool_use' || block.invalidArgs === undefined)
}

/** The body of an answer that is not streamed; keeps unknown fields from a vendor of this family. */
export function encodeAnswer(answer: WholeAnswer, options: EncoderOptions): JsonObject {
  const own = rawOf('llma', answer.raw)
  // An opening frame has no stop reason yet.
  if (answer.untouched && own?.stop_reason) return own
  return {
    ...own,
    id: own?.id ?? options.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: withoutCutCall(answer).flatMap(encodeBlock),
    ...encodeStop(answer.stopReason, answer.stopSequence, answer.rawStop),
    usage: encodeUsage(answer.usage, answer.rawUsage, options),
  }
}
