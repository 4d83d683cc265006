// Neutral to llmo: requests.

import { SvcError } from '../../errors.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import { nativeOutput } from '../call/structured-output.ts'
import { crossFields } from '../messages/crossing.ts'
import type {
  ContentBlock,
  Message,
  ModelRequest,
  ModelToolChoice,
  TextBlock,
  ToolSchema,
} from '../messages/messages.ts'
import type { LlmoDialect } from './dialect.ts'

export type WireOptions = {
  model: string
  maxTokensField: LlmoDialect['maxTokensField']
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

function encodeToolUse(block: Extract<ContentBlock, { type: 'tool_use' }>): JsonObject {
  const extra = block.raw?.family === 'llmo' ? block.raw.json : {}
  const call = { name: block.name, arguments: JSON.stringify(block.args) }
  return { ...extra, id: block.id, type: 'function', function: call }
}

/** Thinking is not sent back: no server of this family accepts it. */
function encodeAssistant(message: Message): JsonObject[] {
  const opaque = message.content.find((block) => block.type === 'opaque')
  if (opaque !== undefined) refuseOpaque(opaque.label)
  const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [encodeToolUse(block)] : []))
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  if (text === '' && calls.length === 0) return []
  return [{ role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }]
}

function encodeMessage(message: Message): JsonObject[] {
  if (message.raw?.family === 'llmo') return [message.raw.json]
  return message.role === 'user' ? encodeUser(message) : encodeAssistant(message)
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
    messages: [...encodeSystem(request.system), ...request.messages.flatMap(encodeMessage)],
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
