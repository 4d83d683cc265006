// llma to neutral: the request of a proxy client. Every part keeps its original JSON.
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import type { ContentBlock, Message, ModelRequest, ModelToolChoice, Raw, TextBlock } from '../messages/messages.ts'
import { unsealMessage } from '../messages/seal.ts'
import type { LlmaBlock, LlmaMessage, LlmaRequestBody } from './schema.ts'

function toRaw(json: unknown): Raw {
  return { family: 'llma', json: json as JsonObject }
}

type Inner = { type: string; text?: unknown; tool_name?: unknown }

/** A tool that was searched for; where all tools are sent with each request, it has been there before. */
const reference = 'tool_reference'

function textOf({ type, text, tool_name: name }: Inner): string[] {
  if (type === reference) return [`Tool ${String(name)} can be called.`]
  return type === 'text' ? [String(text)] : []
}

function joinText(content: string | Inner[] | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? ''
  return content.flatMap(textOf).join('\n')
}

function decodeToolResult(block: Extract<LlmaBlock, { type: 'tool_result' }>): ContentBlock[] {
  const content = block.content as string | Inner[] | undefined
  const inner = typeof content === 'object' ? content.filter(({ type }) => type !== 'text' && type !== reference) : []
  const opaque = inner.map((part): ContentBlock => ({ type: 'opaque', label: part.type, raw: toRaw(part) }))
  const result: ContentBlock = {
    type: 'tool_result',
    toolUseId: String(block.tool_use_id),
    content: joinText(content),
    isError: block.is_error === true,
    raw: toRaw(block),
  }
  return [result, ...opaque]
}

function decodeBlock(block: LlmaBlock): ContentBlock[] {
  const raw = toRaw(block)
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: String(block.text), raw }]
    case 'thinking': {
      const signature = typeof block.signature === 'string' ? { signature: block.signature } : {}
      return [{ type: 'thinking', text: String(block.thinking), ...signature, raw }]
    }
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: String(block.data), raw }]
    case 'tool_use':
      return [
        {
          type: 'tool_use',
          id: String(block.id),
          name: String(block.name),
          args: (block.input ?? {}) as JsonObject,
          raw,
        },
      ]
    case 'tool_result':
      return decodeToolResult(block as Extract<LlmaBlock, { type: 'tool_result' }>)
    default:
      return [{ type: 'opaque', label: block.type, raw }]
  }
}

function decodeMessage(message: LlmaMessage): Message {
  const { role, content } = message
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content.flatMap(decodeBlock)
  // A turn of another vendor, as this service has shown it: what it was is sent back, and not how it was shown.
  return unsealMessage({ role: role === 'assistant' ? role : 'user', content: blocks, raw: toRaw(message) })
}

function decodeSystem(system: LlmaRequestBody['system']): TextBlock[] {
  if (system === undefined || system === '') return []
  if (typeof system === 'string') return [{ type: 'text', text: system }]
  return system.map((block) => ({ type: 'text', text: block.text, raw: toRaw(block) }))
}

function decodeToolChoice(choice: LlmaRequestBody['tool_choice']): ModelToolChoice | undefined {
  if (choice === undefined) return undefined
  return choice.type === 'tool' ? { type: 'tool', name: choice.name ?? '' } : { type: choice.type }
}

/** A validated request in neutral form. */
export function decodeRequest(request: LlmaRequestBody): ModelRequest {
  const budgetTokens = request.thinking?.budget_tokens
  return {
    model: request.model,
    system: decodeSystem(request.system),
    messages: request.messages.map(decodeMessage),
    tools: (request.tools ?? []).map((tool) => ({
      name: tool.name ?? tool.type ?? '',
      description: tool.description ?? '',
      parameters: tool.input_schema ?? {},
      raw: toRaw(tool),
    })),
    ...dropUndefined({
      maxTokens: request.max_tokens,
      temperature: request.temperature,
      topP: request.top_p,
      stopSequences: request.stop_sequences,
      toolChoice: decodeToolChoice(request.tool_choice),
      thinking: budgetTokens === undefined ? undefined : { budgetTokens },
    }),
    raw: toRaw(request),
  }
}
