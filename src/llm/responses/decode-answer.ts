// Answers of the vendor's responses API to neutral, streamed and whole.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { type AnswerDecoder, type DecoderOptions, StreamedError } from '../call/vendor-call.ts'
import { readVendorError } from '../call/vendor-error.ts'
import { readEnding } from '../messages/endings.ts'
import { type ModelEvent, noUsage, type StopReason } from '../messages/messages.ts'
import { findUsage, readUsage } from '../messages/usage-reader.ts'
import { itemsField } from './encode-request.ts'

const deltas = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'thinking',
  'response.reasoning_text.delta': 'thinking',
} as const
const ends = ['response.completed', 'response.incomplete', 'response.failed']

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function fail(body: unknown, message: string): never {
  throw new StreamedError({ message, ...readVendorError(body) })
}

/** By the type of an item. */
const textBlocks: Partial<Record<string, 'text' | 'thinking'>> = { message: 'text', reasoning: 'thinking' }

/** Blocks are numbered as they begin; an item has one, however many parts it has. */
function createBlocks() {
  const open = new Map<unknown, { index: number; hasPieces: boolean }>()
  const sealed: JsonObject[] = []
  let next = 0
  let calls = 0
  let refused = false

  function begin(key: unknown): { index: number; hasPieces: boolean } {
    const block = { index: next++, hasPieces: false }
    open.set(key, block)
    return block
  }

  function pushText(key: unknown, block: 'text' | 'thinking', text: string): ModelEvent[] {
    if (text === '') return []
    const known = open.get(key)
    const { index } = known ?? begin(key)
    const type = block === 'text' ? ('text_delta' as const) : ('thinking_delta' as const)
    return [...(known === undefined ? [{ type: 'block_start' as const, index, block }] : []), { type, index, text }]
  }

  function startCall(key: unknown, { call_id: id, name }: JsonObject): ModelEvent[] {
    calls += 1
    return [{ type: 'tool_use_start', index: begin(key).index, id: String(id), name: String(name) }]
  }

  function pushArgs(key: unknown, json: string): ModelEvent[] {
    const block = open.get(key)
    if (block === undefined || json === '') return []
    block.hasPieces = true
    return [{ type: 'args_delta', index: block.index, json }]
  }

  function readWholeCall(key: unknown, item: JsonObject): ModelEvent[] {
    const start = open.has(key) ? [] : startCall(key, item)
    return [...start, ...(open.get(key)?.hasPieces ? [] : pushArgs(key, String(item.arguments ?? '')))]
  }

  /** A server may send an item as a whole alone. */
  function readWholeItem(key: unknown, item: JsonObject): ModelEvent[] {
    if (item.type === 'function_call') return readWholeCall(key, item)
    const block = textBlocks[String(item.type)]
    return block === undefined || open.has(key) ? [] : pushText(key, block, joinTexts(item.summary ?? item.content))
  }

  function endItem(key: unknown, item: JsonObject): ModelEvent[] {
    const events = readWholeItem(key, item)
    if (item.type === 'reasoning' && item.encrypted_content) sealed.push(item)
    if (JSON.stringify(item.content ?? '').includes('"type":"refusal"')) refused = true
    const block = open.get(key)
    open.delete(key)
    return block === undefined ? events : [...events, { type: 'block_stop', index: block.index }]
  }

  return {
    pushText,
    startCall,
    pushArgs,
    endItem,
    closeAll(): ModelEvent[] {
      const closed = [...open.values()].map(({ index }): ModelEvent => ({ type: 'block_stop', index }))
      return sealed.length === 0 ? closed : [...closed, { type: 'attached', fields: { [itemsField]: sealed } }]
    },
    usual: (): StopReason => (refused ? 'refusal' : calls > 0 ? 'tool_use' : 'end_turn'),
  }
}

function joinTexts(parts: unknown): string {
  return Array.isArray(parts) ? parts.map((part: JsonObject) => String(part.text ?? part.refusal ?? '')).join('') : ''
}

/** The counts in the words of a completion, which clients of the family read. */
function countUsage(response: JsonObject): ModelEvent[] {
  const counts = findUsage(response)
  if (counts === undefined) return []
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = counts
  const json = {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: input_tokens_details,
    completion_tokens_details: output_tokens_details,
  }
  return [{ type: 'usage', usage: readUsage(noUsage, counts), raw: { family: 'llmo', json } }]
}

export function createResponsesDecoder({ origin, onUnknown = () => {} }: DecoderOptions = {}): AnswerDecoder {
  const blocks = createBlocks()
  let hasStarted = false
  let isOver = false

  function start({ model, id }: JsonObject): ModelEvent[] {
    if (hasStarted) return []
    hasStarted = true
    const named = { ...(typeof id === 'string' && { id }), ...(origin !== undefined && { origin }) }
    return [{ type: 'start', model: typeof model === 'string' ? model : '', ...named }]
  }

  function stopOf({ status, incomplete_details: details }: JsonObject): StopReason {
    if (status === 'completed') return blocks.usual()
    const reason = status === 'incomplete' ? readEnding(String(objectOf(details).reason ?? '')) : undefined
    // An answer that is not whole has no usual end, whatever word it gives.
    if (reason !== 'max_tokens' && reason !== 'refusal') {
      onUnknown('finish_reason', String(status))
      return fail({ error: { message: `the answer ended with status "${String(status)}"` } }, 'it broke off')
    }
    return reason
  }

  function end(response: JsonObject): ModelEvent[] {
    isOver = true
    if (response.status === 'failed' || response.error) fail(response, 'the answer failed')
    const stop: ModelEvent = { type: 'stop', reason: stopOf(response) }
    return [...start(response), ...blocks.closeAll(), ...countUsage(response), stop]
  }

  const readers = new Map<string, (frame: JsonObject) => ModelEvent[]>([
    ...ends.map((type) => [type, ({ response }: JsonObject) => end(objectOf(response))] as const),
    ...Object.entries(deltas).map(([type, block]) => {
      const read = ({ output_index: key, delta }: JsonObject) => blocks.pushText(key, block, String(delta))
      return [type, read] as const
    }),
    ['response.function_call_arguments.delta', ({ output_index: key, delta }) => blocks.pushArgs(key, String(delta))],
    ['response.output_item.added', ({ output_index: key, item }) => addItem(key, objectOf(item))],
    ['response.output_item.done', ({ output_index: key, item }) => blocks.endItem(key, objectOf(item))],
  ])

  function addItem(key: unknown, item: JsonObject): ModelEvent[] {
    return item.type === 'function_call' ? blocks.startCall(key, item) : []
  }

  /** Events of other types add nothing to the answer. */
  function readFrame(frame: JsonObject): ModelEvent[] {
    const isEnd = ends.includes(String(frame.type))
    const opened = isEnd || !isJsonObject(frame.response) ? [] : start(frame.response)
    return [...opened, ...(readers.get(String(frame.type))?.(frame) ?? [])]
  }

  return {
    pushFrame(json) {
      if (!isJsonObject(json)) return fail(undefined, 'it sent an event that cannot be read')
      const isError = json.type === 'error' || (json.type === undefined && json.error !== undefined)
      if (isError) return fail(json, 'unknown error')
      return isOver ? [] : readFrame(json)
    },
    end: () => [],
    readWhole(json) {
      if (!isJsonObject(json) || !Array.isArray(json.output)) return fail(json, 'its answer has no output')
      const items = (json.output as JsonObject[]).flatMap((item, at) => blocks.endItem(at, item))
      return [...start(json), ...items, ...end(json)]
    },
  }
}
