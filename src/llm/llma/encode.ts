// Neutral to llma: requests.
import { SvcError } from '../../errors.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import { nativeOutput } from '../call/structured-output.ts'
import { argsOf } from '../messages/collect.ts'
import { crossFields } from '../messages/crossing.ts'
import type { ContentBlock, Message, ModelRequest, ModelToolChoice, ToolSchema } from '../messages/messages.ts'

/** The vendor requires the field; a request without a limit gets this one. */
const defaultMaxTokens = 4096

const cachePoint = { cache_control: { type: 'ephemeral' } }

/** The vendor's ids consist of letters, digits, `_` and `-`; those of other families may contain more. */
function cleanId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_')
}

/** `isOwn`: the vendor that is asked made the block, as far as is known. Nobody else takes its thinking. */
function encodeBlock(block: ContentBlock, isOwn = true): JsonObject[] {
  if (block.raw?.family === 'llma' && (isOwn || block.type === 'opaque')) return [block.raw.json]
  switch (block.type) {
    case 'thinking':
    case 'redacted_thinking':
      return isOwn ? encodeThinking(block) : []
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }]
    case 'tool_use':
      return [{ type: 'tool_use', id: cleanId(block.id), name: block.name, input: argsOf(block) }]
    case 'tool_result':
      return [encodeResult(block)]
    case 'opaque':
      throw new SvcError(
        'InvalidRequest',
        `A content block of type "${block.label}" cannot be translated for this provider. Remove it, or use a provider of type llmo.`,
      )
  }
}

function encodeResult({ toolUseId, content, isError }: Extract<ContentBlock, { type: 'tool_result' }>): JsonObject {
  return { type: 'tool_result', tool_use_id: cleanId(toolUseId), content, ...(isError && { is_error: true }) }
}

function encodeThinking(block: Extract<ContentBlock, { type: 'thinking' | 'redacted_thinking' }>): JsonObject[] {
  if (block.type === 'redacted_thinking') return [{ type: 'redacted_thinking', data: block.data }]
  const { text, signature } = block
  return signature === undefined ? [] : [{ type: 'thinking', thinking: text, signature }]
}

type WireMessage = { role: string; content: JsonObject[]; whole?: JsonObject }

/** Merges consecutive messages of one role: all results of a turn must be in the message that follows it. */
function encodeMessages(messages: Message[], origin: string | undefined): JsonObject[] {
  const wire: WireMessage[] = []
  for (const message of messages) {
    const isOwn = message.origin === undefined || message.origin === origin
    if (message.raw?.family === 'llma' && isOwn) {
      wire.push({ role: message.role, content: [], whole: message.raw.json })
      continue
    }
    const content = message.content.flatMap((block) => encodeBlock(block, isOwn))
    const last = wire.at(-1)
    if (last?.role === message.role) addContent(last, content)
    else wire.push({ role: message.role, content })
  }
  return wire
    .filter((message) => message.whole !== undefined || message.content.length > 0)
    .map(({ role, content, whole }) => whole ?? { role, content })
}

/** The caller's own message stays unchanged, except for what is appended. */
function addContent(wire: WireMessage, content: JsonObject[]): void {
  if (wire.whole === undefined) {
    wire.content.push(...content)
    return
  }
  const own = wire.whole.content
  const blocks = typeof own === 'string' ? [{ type: 'text', text: own }] : (own as JsonObject[])
  wire.whole = { ...wire.whole, content: [...blocks, ...content] }
}

const encodeTool = memoizeByObject((tool: ToolSchema): JsonObject => {
  if (tool.raw?.family === 'llma') return tool.raw.json
  return { name: tool.name, description: tool.description, input_schema: { type: 'object', ...tool.parameters } }
})

function encodeToolChoice(choice: ModelToolChoice): JsonObject {
  return choice.type === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.type }
}

/**
 * An agent's loop repeats its beginning in every call, so it is cached by the vendor: up to the system prompt, and up
 * to the last message.
 */
function markCachePoints(body: { system?: unknown; messages?: unknown }): void {
  for (const list of [body.system, lastContent(body.messages)]) {
    if (!Array.isArray(list)) continue
    const last = list.at(-1) as JsonObject | undefined
    if (last !== undefined && last.type !== 'thinking') list[list.length - 1] = { ...last, ...cachePoint }
  }
}

function lastContent(messages: unknown): unknown {
  return Array.isArray(messages) ? (messages.at(-1) as JsonObject | undefined)?.content : undefined
}

function encodeLimits(request: ModelRequest, base: JsonObject): JsonObject {
  const budget = request.thinking?.budgetTokens
  const wanted = request.maxTokens ?? base.max_tokens ?? defaultMaxTokens
  // The thinking budget is part of the output limit and must be smaller.
  const maxTokens = budget !== undefined && Number(wanted) <= budget ? budget + defaultMaxTokens : wanted
  const isNew = budget !== undefined && base.thinking === undefined
  const thinking = !isNew ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
  return { max_tokens: maxTokens, ...thinking }
}

function encodeSettings(request: ModelRequest): JsonObject {
  const fields = {
    temperature: request.temperature,
    top_p: request.topP,
    stop_sequences: request.stopSequences,
  }
  return dropUndefined(fields)
}

/** The body of a request. A request of the same family is its original, edited. `origin`: the vendor that is asked. */
export function encodeRequest(request: ModelRequest, model: string, origin?: string): JsonObject {
  const base = request.raw?.family === 'llma' ? { ...request.raw.json } : {}
  const { tool_choice: bound, ...crossed } = crossFields(request.raw, 'llma')
  const body: JsonObject = {
    ...base,
    ...crossed,
    ...encodeSettings(request),
    ...encodeLimits(request, base),
    ...(request.outputSchema && nativeOutput.llma(request.outputSchema)),
    model,
    messages: encodeMessages(request.messages, origin),
    stream: request.whole !== true,
  }
  if (request.system.length > 0) body.system = request.system.flatMap((block) => encodeBlock(block))
  delete body.tools
  delete body.tool_choice
  if (request.tools.length === 0) return body
  body.tools = request.tools.map(encodeTool)
  const choice =
    base.tool_choice ?? (request.toolChoice === undefined ? undefined : encodeToolChoice(request.toolChoice))
  if (choice !== undefined || bound !== undefined)
    body.tool_choice = { type: 'auto', ...choice, ...(bound as JsonObject) }
  if (request.raw === undefined) markCachePoints(body)
  return body
}
