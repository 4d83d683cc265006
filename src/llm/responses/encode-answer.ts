// Neutral to the responses API: answers, whole and as events. An answer is a list of items: messages, calls, reasoning.
import type { JsonObject } from '../../lib/json.ts'
import type { AnswerEncoder, EncoderOptions, WholeAnswer } from '../messages/answer.ts'
import { type ContentBlock, type ModelEvent, noUsage, type StopReason, type TokenUsage } from '../messages/messages.ts'

type Item = JsonObject & { type: 'message' | 'function_call' | 'reasoning'; id: string }

function encodeUsage({ inputTokens, outputTokens, cachedTokens }: TokenUsage): JsonObject {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  }
}

/** Why an answer is incomplete; undefined when it is complete. */
const shortfalls: Partial<Record<StopReason, string>> = { max_tokens: 'max_output_tokens', refusal: 'content_filter' }

function encodeText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function encodeSummary(text: string): JsonObject {
  return { type: 'summary_text', text }
}

/** Ids of items are derived from the answer's, so that they are the same in all events. */
function makeItemId(kind: 'msg' | 'fc' | 'rs', answerId: string, at: number): string {
  return `${kind}_${answerId.replace(/^[a-z]+_/, '')}_${at}`
}

type Envelope = { options: EncoderOptions; model: string }

function encodeEnvelope({ options, model }: Envelope, fields: JsonObject): JsonObject {
  return {
    id: options.id,
    object: 'response',
    created_at: Math.floor(options.createdAt.getTime() / 1000),
    error: null,
    incomplete_details: null,
    model,
    parallel_tool_calls: true,
    previous_response_id: null,
    // Nothing is stored that `previous_response_id` could refer to.
    store: false,
    ...fields,
  }
}

function encodeEnd(envelope: Envelope, output: Item[], { reason, usage }: { reason: StopReason; usage: TokenUsage }) {
  const shortfall = shortfalls[reason]
  return encodeEnvelope(envelope, {
    status: shortfall === undefined ? 'completed' : 'incomplete',
    incomplete_details: shortfall === undefined ? null : { reason: shortfall },
    output,
    usage: encodeUsage(usage),
  })
}

/** Writes frames with a number that increases over the stream. */
function createFrames() {
  let number = 0
  return (type: string, json: JsonObject): string => {
    const data = JSON.stringify({ type, sequence_number: number, ...json })
    number += 1
    return `event: ${type}\ndata: ${data}\n\n`
  }
}

type Frame = ReturnType<typeof createFrames>

/** The item being written. Adjacent texts share one message, so that a call in it and its result come back together. */
type OpenItem = { item: Item; at: number; text: string; events: ItemEvents }

/** How the text of an item is streamed: the part around it, and its pieces. */
type ItemEvents = {
  delta: string
  done: string
  /** The field of the whole text in the last event. */
  whole: string
  /** Opens and closes the part that contains the text; absent: the item itself does. */
  part?: { added: string; done: string; index: string; encode(text: string): JsonObject }
}

const messageEvents: ItemEvents = {
  delta: 'response.output_text.delta',
  done: 'response.output_text.done',
  whole: 'text',
  part: {
    added: 'response.content_part.added',
    done: 'response.content_part.done',
    index: 'content_index',
    encode: encodeText,
  },
}
const reasoningEvents: ItemEvents = {
  delta: 'response.reasoning_summary_text.delta',
  done: 'response.reasoning_summary_text.done',
  whole: 'text',
  part: {
    added: 'response.reasoning_summary_part.added',
    done: 'response.reasoning_summary_part.done',
    index: 'summary_index',
    encode: encodeSummary,
  },
}
const callEvents: ItemEvents = {
  delta: 'response.function_call_arguments.delta',
  done: 'response.function_call_arguments.done',
  whole: 'arguments',
}

function completeItem(item: Item, text: string): Item {
  const status = 'completed'
  if (item.type === 'message') return { ...item, status, content: [encodeText(text)] }
  if (item.type === 'reasoning') return { ...item, summary: [encodeSummary(text)] }
  return { ...item, status, arguments: text }
}

/** The items of a stream, one after the other. */
function createItems(options: EncoderOptions, frame: Frame) {
  const output: Item[] = []
  let open: OpenItem | undefined

  function locate({ item, at, events }: OpenItem): JsonObject {
    return { item_id: item.id, output_index: at, ...(events.part && { [events.part.index]: 0 }) }
  }

  function close(): string {
    if (open === undefined) return ''
    const { item, at, text, events } = open
    const where = locate(open)
    const whole = completeItem(item, text)
    open = undefined
    output.push(whole)
    const done = frame(events.done, { ...where, [events.whole]: text })
    const part = events.part && frame(events.part.done, { ...where, part: events.part.encode(text) })
    return `${done}${part ?? ''}${frame('response.output_item.done', { output_index: at, item: whole })}`
  }

  function start(item: Item, events: ItemEvents): string {
    const closed = close()
    open = { item, at: output.length, text: '', events }
    const added = frame('response.output_item.added', { output_index: open.at, item })
    const part = events.part && frame(events.part.added, { ...locate(open), part: events.part.encode('') })
    return `${closed}${added}${part ?? ''}`
  }

  const idOf = (kind: 'msg' | 'fc' | 'rs') => makeItemId(kind, options.id, output.length + (open === undefined ? 0 : 1))

  return {
    output,
    close,
    extend(delta: string): string {
      if (open === undefined) return ''
      open.text += delta
      return frame(open.events.delta, { ...locate(open), delta })
    },
    startMessage(): string {
      if (open?.item.type === 'message') return ''
      const item: Item = { type: 'message', id: idOf('msg'), status: 'in_progress', role: 'assistant', content: [] }
      return start(item, messageEvents)
    },
    startReasoning(): string {
      return start({ type: 'reasoning', id: idOf('rs'), summary: [] }, reasoningEvents)
    },
    startCall(callId: string, name: string): string {
      const item: Item = {
        type: 'function_call',
        id: idOf('fc'),
        status: 'in_progress',
        call_id: callId,
        name,
        arguments: '',
      }
      return start(item, callEvents)
    },
  }
}

type Items = ReturnType<typeof createItems>

function writeBlockEvent(event: Extract<ModelEvent, { index: number }>, items: Items): string {
  switch (event.type) {
    case 'block_start':
      return event.block === 'text' ? items.startMessage() : items.startReasoning()
    case 'tool_use_start':
      return items.startCall(event.id, event.name)
    case 'text_delta':
      return items.startMessage() + items.extend(event.text)
    case 'thinking_delta':
      return items.extend(event.text)
    case 'args_delta':
      return items.extend(event.json)
    default:
      return ''
  }
}

export function createAnswerEncoder(options: EncoderOptions): AnswerEncoder {
  const frame = createFrames()
  const items = createItems(options, frame)
  let model = ''
  let usage = noUsage

  function open(): string {
    const response = encodeEnvelope({ options, model }, { status: 'in_progress', output: [], usage: null })
    return frame('response.created', { response }) + frame('response.in_progress', { response })
  }

  function end(reason: StopReason): string {
    const closed = items.close()
    const response = encodeEnd({ options, model }, items.output, { reason, usage })
    return closed + frame(`response.${response.status}`, { response })
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          model = event.model
          return open()
        case 'usage':
          usage = event.usage
          return ''
        case 'stop':
          return end(event.reason)
        case 'error':
          return ''
        default:
          return writeBlockEvent(event, items)
      }
    },
    fail(body) {
      const error = { code: 'server_error', message: (body.error as { message?: string } | undefined)?.message ?? '' }
      const closed = items.close()
      const failed = { status: 'failed', error, output: items.output, usage: encodeUsage(usage) }
      return closed + frame('response.failed', { response: encodeEnvelope({ options, model }, failed) })
    },
    // A comment, as in chat completions.
    heartbeat: ': ping\n\n',
  }
}

/** The events that would have streamed a block. */
function replayBlock(block: ContentBlock, items: Items): void {
  if (block.type === 'text') {
    items.startMessage()
    items.extend(block.text)
  } else if (block.type === 'thinking') {
    items.startReasoning()
    items.extend(block.text)
  } else if (block.type === 'tool_use') {
    items.startCall(block.id, block.name)
    items.extend(block.invalidArgs ?? JSON.stringify(block.args))
  }
}

/** The body of an answer that is not streamed. */
export function encodeAnswer(answer: WholeAnswer, options: EncoderOptions): JsonObject {
  const items = createItems(options, () => '')
  for (const block of answer.content) replayBlock(block, items)
  items.close()
  const { model, stopReason: reason, usage } = answer
  return encodeEnd({ options, model }, items.output, { reason, usage })
}
