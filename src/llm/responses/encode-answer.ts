// Neutral to the responses API: answers, whole and as events. An answer is a list of items: messages, calls, reasoning.
import type { JsonObject } from '../../lib/json.ts'
import {
  type AnswerEncoder,
  type EncoderOptions,
  type EndedAnswer,
  rawOf,
  type WholeAnswer,
} from '../messages/answer.ts'
import {
  type ContentBlock,
  type ModelEvent,
  noUsage,
  type Raw,
  type StopReason,
  type TokenUsage,
} from '../messages/messages.ts'
import { readNestedCount } from '../messages/token-usage.ts'
import type { ResponsesRequest } from './decode-request.ts'
import { createItemStream, type ItemStream, type OutputItem } from './item-stream.ts'
import { ToolNames } from './tools.ts'

export type ResponseOptions = EncoderOptions & {
  /** Absent: nothing is known of the request. */
  asked?: { request: ResponsesRequest; names: ToolNames }
}

function encodeUsage({ inputTokens, outputTokens, cachedTokens }: TokenUsage, raw: Raw | undefined): JsonObject {
  const reasoning = readNestedCount(rawOf('llmo', raw)?.completion_tokens_details, 'reasoning_tokens') ?? 0
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: inputTokens + outputTokens,
  }
}

/** Why an answer is incomplete; undefined when it is complete. */
const shortfalls: Partial<Record<StopReason, string>> = { max_tokens: 'max_output_tokens', refusal: 'content_filter' }

/** What clients of the vendor find in every response: the request in the words of the answer. */
function echo(request: Partial<ResponsesRequest>): JsonObject {
  const read = (name: string, usual: unknown) => request[name] ?? usual
  return {
    background: false,
    instructions: read('instructions', null),
    max_output_tokens: read('max_output_tokens', null),
    max_tool_calls: read('max_tool_calls', null),
    metadata: read('metadata', {}),
    parallel_tool_calls: read('parallel_tool_calls', true),
    previous_response_id: read('previous_response_id', null),
    prompt_cache_key: read('prompt_cache_key', null),
    reasoning: { effort: null, summary: null, ...request.reasoning },
    safety_identifier: read('safety_identifier', null),
    service_tier: read('service_tier', 'default'),
    store: read('store', true),
    temperature: read('temperature', 1),
    text: { verbosity: 'medium', ...request.text, format: request.text?.format ?? { type: 'text' } },
    tool_choice: read('tool_choice', 'auto'),
    tools: read('tools', []),
    top_logprobs: read('top_logprobs', 0),
    top_p: read('top_p', 1),
    truncation: read('truncation', 'disabled'),
    user: read('user', null),
  }
}

type Envelope = { options: ResponseOptions; model: string }

function encodeEnvelope({ options, model }: Envelope, fields: JsonObject): JsonObject {
  return {
    id: options.id,
    object: 'response',
    created_at: Math.floor(options.createdAt.getTime() / 1000),
    error: null,
    incomplete_details: null,
    model,
    ...echo(options.asked?.request ?? {}),
    ...fields,
  }
}

type End = { reason: StopReason; usage: JsonObject; at: Date }

function encodeEnd(envelope: Envelope, output: OutputItem[], { reason, usage, at }: End): JsonObject {
  const shortfall = shortfalls[reason]
  return encodeEnvelope(envelope, {
    status: shortfall === undefined ? 'completed' : 'incomplete',
    incomplete_details: shortfall === undefined ? null : { reason: shortfall },
    completed_at: shortfall === undefined ? Math.floor(at.getTime() / 1000) : null,
    output,
    usage,
  })
}

/** Writes frames with a number that increases over the stream. */
function createFrames() {
  let number = 0
  function reserve(type: string): (json: JsonObject) => string {
    const sequence = number
    number += 1
    return (json) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...json })}\n\n`
  }
  return { reserve, frame: (type: string, json: JsonObject) => reserve(type)(json) }
}

function writeBlockEvent(event: Extract<ModelEvent, { index: number }>, items: ItemStream, names: ToolNames): string {
  switch (event.type) {
    case 'block_start':
      return event.block === 'text' ? items.startMessage() : items.startReasoning()
    case 'tool_use_start':
      return items.startCall(event.id, names.declared(event.name))
    case 'text_delta':
      return items.startMessage() + items.extend(event.text)
    case 'thinking_delta':
      return items.extend(event.text)
    case 'args_delta':
      return items.extend(event.json)
    case 'signature_delta':
      items.seal(event.signature)
      return ''
    case 'block':
      return event.block.type === 'redacted_thinking' ? items.addSealed(event.block.data) : ''
    default:
      return ''
  }
}

/** The codes that clients know, of an error in the family's form. */
function codeOf({ type, code }: { type?: unknown; code?: unknown }): string {
  if (typeof code === 'string') return code
  return type === 'invalid_request_error' ? 'invalid_prompt' : 'server_error'
}

export function createAnswerEncoder(options: ResponseOptions): AnswerEncoder {
  const { frame, reserve } = createFrames()
  const items = createItemStream(options.id, frame)
  const names = options.asked?.names ?? new ToolNames()
  let model = ''
  let usage = encodeUsage(noUsage, undefined)
  let ended: EndedAnswer | undefined

  function describeOpen(): JsonObject {
    return encodeEnvelope({ options, model }, { status: 'in_progress', output: items.output, usage: null })
  }

  function open(): string {
    const opened = { response: describeOpen() }
    return frame('response.created', opened) + frame('response.in_progress', opened)
  }

  function end(reason: StopReason): string {
    const closed = items.close(shortfalls[reason] === undefined ? 'completed' : 'incomplete')
    const answer = encodeEnd({ options, model }, items.output, { reason, usage, at: options.createdAt })
    const write = reserve(`response.${answer.status}`)
    const writeLast = (response: JsonObject) => write({ response })
    ended = { answer, writeLast }
    return closed + writeLast(answer)
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          model = event.model
          return open()
        case 'usage':
          usage = encodeUsage(event.usage, event.raw)
          return ''
        case 'stop':
          return end(event.reason)
        case 'error':
        case 'attached':
          return ''
        default:
          return writeBlockEvent(event, items, names)
      }
    },
    fail(body) {
      const { message, ...kind } = (body.error ?? {}) as { message?: string; type?: unknown; code?: unknown }
      const error = { code: codeOf(kind), message: message ?? '' }
      const closed = items.close('incomplete')
      const failed = { status: 'failed', error, output: items.output, usage }
      return closed + frame('response.failed', { response: encodeEnvelope({ options, model }, failed) })
    },
    /** Clients wait for events, not for comments, and some end at an event that is unknown to them. */
    get heartbeat() {
      return frame('response.in_progress', { response: describeOpen() })
    },
    ended: () => ended,
  }
}

/** The events that would have streamed a block. */
function replayBlock(block: ContentBlock, items: ItemStream, names: ToolNames): void {
  if (block.type === 'text') {
    items.startMessage()
    items.extend(block.text)
  } else if (block.type === 'thinking') {
    items.startReasoning()
    items.extend(block.text)
    items.seal(block.signature ?? '')
  } else if (block.type === 'redacted_thinking') {
    items.addSealed(block.data)
  } else if (block.type === 'tool_use') {
    items.startCall(block.id, names.declared(block.name))
    items.extend(block.invalidArgs ?? JSON.stringify(block.args))
  }
}

/** The body of an answer that is not streamed. */
export function encodeAnswer(answer: WholeAnswer, options: ResponseOptions): JsonObject {
  const items = createItemStream(options.id, () => '')
  const { model, stopReason: reason, usage, rawUsage } = answer
  for (const block of answer.content) replayBlock(block, items, options.asked?.names ?? new ToolNames())
  items.close(shortfalls[reason] === undefined ? 'completed' : 'incomplete')
  const end = { reason, usage: encodeUsage(usage, rawUsage), at: options.createdAt }
  return encodeEnd({ options, model }, items.output, end)
}
