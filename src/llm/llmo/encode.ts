// Neutral to llmo: requests.
import { SvcError } from '../../errors.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import { nativeOutput } from '../call/structured-output.ts'
import { argsOf } from '../messages/collect.ts'
import { crossFields } from '../messages/crossing.ts'
import type {
  ContentBlock,
  Message,
  ModelRequest,
  ModelToolChoice,
  TextBlock,
  ToolSchema,
  ToolUseBlock,
} from '../messages/messages.ts'
import type { LlmoDialect } from './dialect.ts'

export type WireOptions = {
  model: string
  maxTokensField: LlmoDialect['maxTokensField']
  /** The vendor that is asked (`originOf`). */
  origin?: string
  /** Fields of earlier turns that it does not take back. */
  refused?: readonly string[]
  /** The field that it wants in each turn with a tool call. */
  wanted?: string
}

function refuseOpaque(label: string): never {
  throw new SvcError(
    'InvalidRequest',
    `A content block of type "${label}" cannot be translated for this provider. Remove it, or use a provider of type llma.`,
  )
}

function joinText(blocks: ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : [])).join('\n\n')
}

function encodeUser(message: Message): JsonObject[] {
  const results = message.content.flatMap((block) =>
    block.type === 'tool_result' ? [{ role: 'tool', tool_call_id: block.toolUseId, content: block.content }] : [],
  )
  const parts = message.content.filter((block) => block.type !== 'tool_result')
  if (parts.every((block) => block.type === 'text')) {
    const text = joinText(parts)
    return text === '' ? results : [...results, { role: 'user', content: text }]
  }
  return [...results, { role: 'user', content: parts.map(encodePart) }]
}

function encodePart(block: ContentBlock): JsonObject {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'opaque' && block.raw.family === 'llmo') return block.raw.json
  return refuseOpaque(block.type === 'opaque' ? block.label : block.type)
}

/** Whether what a vendor has attached to a turn is for the one that is asked; a turn of unknown origin has nothing of one. */
function isOwn({ origin }: Message, options: WireOptions): boolean {
  return origin === undefined || origin === options.origin
}

function keepFields(fields: JsonObject, { refused = [] }: WireOptions): JsonObject {
  return refused.length === 0
    ? fields
    : Object.fromEntries(Object.entries(fields).filter(([name]) => !refused.includes(name)))
}

function encodeToolUse(block: ToolUseBlock, extra: JsonObject): JsonObject {
  return {
    ...extra,
    id: block.id,
    type: 'function',
    function: { name: block.name, arguments: JSON.stringify(argsOf(block)) },
  }
}

function extraOf({ raw }: ToolUseBlock): JsonObject {
  return raw?.family === 'llmo' ? raw.json : {}
}

/** The name of content in parts, in which some servers write their thinking. */
const contentField = 'content'

function encodeThinking(message: Message): JsonObject {
  const fields: JsonObject = {}
  for (const block of message.content) {
    if (block.type !== 'thinking' || block.field === undefined || block.field === contentField) continue
    fields[block.field] = `${String(fields[block.field] ?? '')}${block.text}`
  }
  return fields
}

function encodeOwnContent(message: Message, text: string): unknown {
  const thinking = message.content.flatMap((block) =>
    block.type === 'thinking' && block.field === contentField ? [{ type: 'text', text: block.text }] : [],
  )
  const parts = [{ type: 'thinking', thinking }, ...(text === '' ? [] : [{ type: 'text', text }])]
  return thinking.length === 0 ? text || null : parts
}

/** What the vendor that is asked attached to the turn, and nothing of another one: strict servers refuse what they do not know. */
function encodeAssistant(message: Message, options: WireOptions): JsonObject[] {
  const opaque = message.content.find((block) => block.type === 'opaque')
  if (opaque !== undefined) refuseOpaque(opaque.label)
  const own = isOwn(message, options)
  const uses = message.content.filter((block) => block.type === 'tool_use')
  const calls = uses.map((use) => encodeToolUse(use, own ? keepFields(extraOf(use), options) : {}))
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  if (text === '' && calls.length === 0) return []
  const content = own ? encodeOwnContent(message, text) : text || null
  const fields = own ? keepFields({ ...message.attached, ...encodeThinking(message) }, options) : {}
  const encoded = { role: 'assistant', content, ...fields, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
  return [addWanted(encoded, options)]
}

/** For a turn that another vendor made, or whose thinking is lost: a blank is the least that such servers take. */
function addWanted(message: JsonObject, { wanted }: WireOptions): JsonObject {
  if (wanted === undefined || message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return message
  return message[wanted] ? message : { ...message, [wanted]: ' ' }
}

const callerFields = ['role', 'content', 'name', 'tool_calls', 'function_call', 'refusal', 'audio']

/** A message of the caller, which may have been made by another vendor than the one that is asked. */
function encodeOriginal(message: Message, json: JsonObject, options: WireOptions): JsonObject {
  if (message.role !== 'assistant') return json
  const fields = isOwn(message, options) ? json : plainAssistant(json)
  return addWanted(keepFields(fields, options), options)
}

const callFields = ['id', 'type', 'function', 'custom', 'index']

/** A message of the wire with what every server knows of it. */
export function plainAssistant(json: JsonObject): JsonObject {
  const { tool_calls: calls } = json
  const plain = pickFields(json, callerFields)
  if (!Array.isArray(calls)) return plain
  return { ...plain, tool_calls: (calls as JsonObject[]).map((call) => pickFields(call, callFields)) }
}

function pickFields(json: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => names.includes(name)))
}

function encodeMessage(message: Message, options: WireOptions): JsonObject[] {
  if (message.raw?.family === 'llmo') return [encodeOriginal(message, message.raw.json, options)]
  return message.role === 'user' ? encodeUser(message) : encodeAssistant(message, options)
}

/** The fields of earlier turns that a request contains beside those that every server knows. */
export function listReturned({ messages = [] }: { messages?: JsonObject[] }): string[] {
  const assistants = messages.filter(({ role }) => role === 'assistant')
  const calls = assistants.flatMap(({ tool_calls: list }) => (Array.isArray(list) ? (list as JsonObject[]) : []))
  const names = [
    ...assistants.flatMap((message) => Object.keys(message).filter((name) => !callerFields.includes(name))),
    ...calls.flatMap((call) => Object.keys(call).filter((name) => !callFields.includes(name))),
  ]
  return [...new Set(names)]
}

function encodeSystem(system: TextBlock[]): JsonObject[] {
  const original = system.flatMap((block) => (block.raw?.family === 'llmo' ? [block.raw.json] : []))
  const added = joinText(system.filter((block) => block.raw?.family !== 'llmo'))
  return added === '' ? original : [{ role: 'system', content: added }, ...original]
}

const encodeTool = memoizeByObject((tool: ToolSchema): JsonObject => {
  if (tool.raw?.family === 'llmo') return tool.raw.json
  const parameters = { type: 'object', ...tool.parameters }
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters } }
})

function encodeToolChoice(choice: ModelToolChoice): unknown {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'any' ? 'required' : choice.type
}

/** Fields that the original already has under one of their names stay unchanged. */
function encodeSettings(request: ModelRequest, base: JsonObject, options: WireOptions): JsonObject {
  const hasLimit = 'max_tokens' in base || 'max_completion_tokens' in base
  const fields = {
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stopSequences,
    [options.maxTokensField]: hasLimit ? undefined : request.maxTokens,
  }
  return dropUndefined(fields)
}

function encodeStreaming({ whole }: ModelRequest, base: JsonObject): JsonObject {
  if (whole) return { stream: false }
  return { stream: true, stream_options: { ...(base.stream_options as JsonObject | undefined), include_usage: true } }
}

/** The body of a request. A request of the same family is its original, edited. */
export function encodeRequest(request: ModelRequest, options: WireOptions): JsonObject {
  const base = request.raw?.family === 'llmo' ? { ...request.raw.json } : {}
  const body: JsonObject = {
    ...base,
    ...crossFields(request.raw, 'llmo'),
    ...encodeSettings(request, base, options),
    ...(request.outputSchema && nativeOutput.llmo(request.outputSchema)),
    model: options.model,
    messages: [
      ...encodeSystem(request.system),
      ...request.messages.flatMap((message) => encodeMessage(message, options)),
    ],
    ...encodeStreaming(request, base),
  }
  if (request.whole) delete body.stream_options
  delete body.tools
  delete body.tool_choice
  if (request.tools.length === 0) {
    // The vendor refuses this field in a request without tools.
    delete body.parallel_tool_calls
    return body
  }
  body.tools = request.tools.map(encodeTool)
  const choice =
    base.tool_choice ?? (request.toolChoice === undefined ? undefined : encodeToolChoice(request.toolChoice))
  if (choice !== undefined) body.tool_choice = choice
  return body
}
