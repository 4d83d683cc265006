// Neutral to llmo: answers, whole and as chunks. The inverse of decode.
import type { JsonObject } from '../../lib/json.ts'
import { type AnswerEncoder, type EncoderOptions, rawOf, type WholeAnswer } from '../messages/answer.ts'
import {
  type ContentBlock,
  type ModelEvent,
  noUsage,
  type Raw,
  type StopReason,
  type TokenUsage,
} from '../messages/messages.ts'

const stopWords: Record<StopReason, string> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop',
  refusal: 'content_filter',
  pause: 'stop',
}

type Event<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>

function encodeUsage(usage: TokenUsage, raw: Raw | undefined): JsonObject {
  const own = rawOf('llmo', raw)
  if (own?.prompt_tokens !== undefined) return own
  const { inputTokens, outputTokens, cachedTokens } = usage
  return {
    ...own,
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}

/** Clients wait for the words of the vendor; compatible servers have others, and some say "stop" after tool calls. */
function encodeFinish(reason: StopReason): string {
  return stopWords[reason]
}

/** The common parts of an answer and its chunks. */
function encodeEnvelope(model: string, raw: Raw | undefined, options: EncoderOptions): JsonObject {
  const { choices: _choices, usage: _usage, ...own } = rawOf('llmo', raw) ?? {}
  const created = Math.floor(options.createdAt.getTime() / 1000)
  return { created, ...own, id: own.id ?? options.id, model }
}

const silent: JsonObject = {}

/** The name that servers of this family use for thinking, unless the vendor has another one. */
function thinkingField(field: string | undefined): string {
  return field === undefined || field === 'content' ? 'reasoning_content' : field
}

/** The delta of one event; `call` is the number of the tool call it belongs to. */
function encodeDelta(event: Extract<ModelEvent, { index: number }>, call: number, field: string): JsonObject {
  switch (event.type) {
    case 'text_delta':
      return { content: event.text }
    case 'thinking_delta':
      return { [field]: event.text }
    case 'tool_use_start': {
      const { id, name, raw } = event
      const own = rawOf('llmo', raw)
      return { tool_calls: [{ index: call, ...own, id, type: 'function', function: { name, arguments: '' } }] }
    }
    case 'args_delta':
      return { tool_calls: [{ index: call, function: { arguments: event.json } }] }
    case 'block_stop': {
      const extra = rawOf('llmo', event.raw)
      return extra === undefined ? silent : { tool_calls: [{ index: call, ...extra }] }
    }
    default:
      return silent
  }
}

export function createAnswerEncoder(options: EncoderOptions): AnswerEncoder {
  let envelope: JsonObject = {}
  /** The text before the delta in a chunk. Almost all chunks are text, so only the differing part is built. */
  let opening = ''
  let usage: JsonObject | undefined
  const calls = new Map<number, number>()
  let field = thinkingField(undefined)

  function chunk(json: JsonObject): string {
    return `data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', ...json })}\n\n`
  }

  function encodeChoice(delta: JsonObject, finish: unknown = null): string {
    return chunk({ choices: [{ index: 0, delta, finish_reason: finish }] })
  }

  function writeText(text: string): string {
    return `${opening}"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`
  }

  function close(stop: Event<'stop'>): string {
    const counts = options.includeUsage ? chunk({ choices: [], usage: usage ?? encodeUsage(noUsage, undefined) }) : ''
    return `${encodeChoice({}, encodeFinish(stop.reason))}${counts}data: [DONE]\n\n`
  }

  function pushBlock(event: Extract<ModelEvent, { index: number }>): string {
    if (event.type === 'tool_use_start') calls.set(event.index, calls.size)
    if (event.type === 'block_start') field = thinkingField(event.field)
    const delta = encodeDelta(event, calls.get(event.index) ?? 0, field)
    return delta === silent ? '' : encodeChoice(delta)
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          envelope = encodeEnvelope(event.model, event.raw, options)
          opening = `data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk' }).slice(0, -1)},`
          return encodeChoice({ role: 'assistant', content: '' })
        case 'usage':
          usage = encodeUsage(event.usage, event.raw)
          return ''
        case 'stop':
          return close(event)
        case 'error':
          return ''
        case 'attached':
          return encodeChoice(event.fields)
        case 'text_delta':
          return writeText(event.text)
        default:
          return pushBlock(event)
      }
    },
    fail: (body) => `data: ${JSON.stringify(body)}\n\n`,
    /** A chunk that adds nothing: clients time the events of a stream, and some trip over comments. */
    get heartbeat() {
      return encodeChoice({})
    },
  }
}

function joinText(content: ContentBlock[], type: 'text' | 'thinking'): string {
  return content.map((block) => (block.type === type ? block.text : '')).join('')
}

function fieldOf(content: ContentBlock[]): string {
  const block = content.find(({ type }) => type === 'thinking')
  return thinkingField(block?.type === 'thinking' ? block.field : undefined)
}

function encodeCalls(content: ContentBlock[]): JsonObject[] {
  return content.flatMap((block) => {
    if (block.type !== 'tool_use') return []
    const call = { name: block.name, arguments: block.invalidArgs ?? JSON.stringify(block.args) }
    return [{ ...rawOf('llmo', block.raw), id: block.id, type: 'function', function: call }]
  })
}

/** In a whole answer; chunks contain a delta. */
function hasMessage({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices[0]?.message !== undefined
}

/** Whether the vendor's answer has the calls that were read from it: some servers write several as one. */
function hasCalls({ choices }: JsonObject, calls: JsonObject[]): boolean {
  const own = (choices as { message?: { tool_calls?: unknown } }[])[0]?.message?.tool_calls
  const ids = Array.isArray(own) ? (own as JsonObject[]).map(({ id }) => id) : []
  return ids.length === calls.length && ids.every((id, at) => id === calls[at]?.id)
}

/** The body of an answer that is not streamed; keeps unknown fields from a vendor of this family. */
export function encodeAnswer(answer: WholeAnswer, options: EncoderOptions): JsonObject {
  const own = rawOf('llmo', answer.raw)
  if (answer.untouched && own !== undefined && hasMessage(own) && hasCalls(own, encodeCalls(answer.content))) return own
  const text = joinText(answer.content, 'text')
  const thinking = joinText(answer.content, 'thinking')
  const calls = encodeCalls(answer.content)
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...answer.attached,
    ...(thinking === '' ? {} : { [fieldOf(answer.content)]: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    ...encodeEnvelope(answer.model, answer.raw, options),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: encodeFinish(answer.stopReason) }],
    usage: encodeUsage(answer.usage, answer.rawUsage),
  }
}
